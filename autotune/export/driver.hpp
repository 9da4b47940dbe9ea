#pragma once
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "choose.hpp"
// Loading and launching by the CUDA driver.

namespace autotune {

inline CUkernel loaded[kernels.size()];

inline CUresult load(const char* folder) {
  CUdevice device = 0;
  int most_shared_bytes = 0, static_bytes = 0, major = 0;
  CUresult result = cuCtxGetDevice(&device);
  const auto then = [&result](auto call, auto... arguments) {
    if (result == CUDA_SUCCESS) result = call(arguments...);
  };
  then(cuDeviceGetAttribute, &most_shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
       device);
  then(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  for (std::size_t one = 0; one < kernels.size(); ++one) {
    const std::string path = std::string(folder) + "/" + kernels[one].program;
    CUlibrary library = nullptr;
    CUkernel& kernel = loaded[one];
    then(cuLibraryLoadFromFile, &library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    then(cuLibraryGetKernel, &kernel, library, kernels[one].entry);
    then(cuKernelGetAttribute, &static_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, device);
    then(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
         most_shared_bytes - static_bytes, kernel, device);
    if (major >= 9)
      then(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel, device);
  }
  return result;
}

// What a call brings: where its addresses and its scalars are.
struct Call {
  const void* const* brought;
  CUdeviceptr workspace;
  CUstream stream;

  CUdeviceptr address(long long number) const { return *static_cast<const CUdeviceptr*>(brought[number]); }
};

// The numbers of steps, read one after the other.
struct Reader {
  const double* next;

  template <typename T>
  T one() {
    return static_cast<T>(*next++);
  }
  template <typename T, std::size_t count>
  std::array<T, count> some() {
    std::array<T, count> found;
    for (T& each : found) each = one<T>();
    return found;
  }
};

// Position, bytes, a whole number, what each turn adds. The lowest bytes are put.
inline void put_whole(Reader& step, long long turn, unsigned char* arguments) {
  const auto [position, bytes, start, more] = step.some<long long, 4>();
  const long long value = start + turn * more;
  std::memcpy(arguments + position, &value, bytes);
}

// Position, bytes, a float or a double.
inline void put_real(Reader& step, unsigned char* arguments) {
  const auto [position, bytes] = step.some<long long, 2>();
  const double value = step.one<double>();
  const float single = static_cast<float>(value);
  std::memcpy(arguments + position, bytes == sizeof single ? static_cast<const void*>(&single) : &value,
              bytes);
}

// Position, bytes, what a call brings, what is added if that is an address.
inline void take_brought(Reader& step, const Call& call, unsigned char* arguments) {
  const auto [position, bytes, number, offset] = step.some<long long, 4>();
  const CUdeviceptr address = offset ? call.address(number) + offset : 0;
  std::memcpy(arguments + position, offset ? &address : call.brought[number], bytes);
}

// Position, bytes, tensor, type, swizzle, rank, whether in im2col mode, offset in bytes; shape in elements,
// strides in bytes, box, steps, lower and upper corners. Dimensions begin with the one along which elements
// are neighbours, whose stride is left out. In im2col mode the box is a number of channels and of pixels.
inline CUresult encode_map(Reader& step, const Call& call, unsigned char* arguments) {
  const auto [position, bytes, tensor, type_number, swizzle_number, rank, im2col, offset] =
      step.some<long long, 8>();
  const auto shape = step.some<std::uint64_t, 5>(), strides = step.some<std::uint64_t, 5>();
  const auto box = step.some<std::uint32_t, 5>(), steps = step.some<std::uint32_t, 5>();
  const auto lower = step.some<int, 3>(), upper = step.some<int, 3>();
  auto* const encoded = reinterpret_cast<CUtensorMap*>(arguments + position);
  auto* const begin = reinterpret_cast<void*>(call.address(tensor) + offset);
  const auto type = static_cast<CUtensorMapDataType>(type_number);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(swizzle_number);
  constexpr auto interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  constexpr auto promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  constexpr auto fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  if (im2col)
    return cuTensorMapEncodeIm2col(encoded, type, rank, begin, shape.data(), strides.data(), lower.data(),
                                   upper.data(), box[0], box[1], steps.data(), interleave, swizzle, promotion,
                                   fill);
  return cuTensorMapEncodeTiled(encoded, type, rank, begin, shape.data(), strides.data(), box.data(),
                                steps.data(), interleave, swizzle, promotion, fill);
}

// Offset in the workspace, bytes, value of each.
inline CUresult set_workspace(Reader& step, const Call& call) {
  const auto [offset, bytes, value] = step.some<std::size_t, 3>();
  return cuMemsetD8Async(call.workspace + offset, static_cast<unsigned char>(value), bytes, call.stream);
}

// Kernel, blocks along x, y, z, threads along x, y, z, bytes of shared memory.
inline CUresult launch_kernel(Reader& step, const Call& call, unsigned char* arguments) {
  const auto [kernel, x, y, z, threads, rows, layers, shared_bytes] = step.some<unsigned, 8>();
  if (x == 0 || y == 0 || z == 0) return CUDA_SUCCESS;
  if (!loaded[kernel]) return CUDA_ERROR_NOT_INITIALIZED;
  void* parameters[] = {arguments};
  return cuLaunchKernel(reinterpret_cast<CUfunction>(loaded[kernel]), x, y, z, threads, rows, layers,
                        shared_bytes, call.stream, parameters, nullptr);
}

// Run steps in a turn of a repetition; `arguments` are those of the next launch.
inline CUresult run(Reader step, const double* end, long long turn, unsigned char* arguments,
                    const Call& call) {
  CUresult result = CUDA_SUCCESS;
  while (step.next < end && result == CUDA_SUCCESS) {
    const auto kind = step.one<Kind>();
    if (kind == put) put_whole(step, turn, arguments);
    if (kind == real) put_real(step, arguments);
    if (kind == take) take_brought(step, call, arguments);
    if (kind == map) result = encode_map(step, call, arguments);
    if (kind == set) result = set_workspace(step, call);
    if (kind == launch) result = launch_kernel(step, call, arguments);
    if (kind != repeat) continue;
    const auto [times, words] = step.some<long long, 2>();
    for (long long one = 0; one < times && result == CUDA_SUCCESS; ++one)
      result = run(step, step.next + words, one, arguments, call);
    step.next += words;
  }
  return result;
}

inline CUresult run(const Sizes& sizes, const Call& call) {
  if (!served(sizes)) return CUDA_ERROR_INVALID_VALUE;
  const auto& [schedule, workspace_bytes, steps] = chosen(sizes);
  if (schedule < 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (workspace_bytes && !call.workspace) return CUDA_ERROR_INVALID_VALUE;
  alignas(64) unsigned char arguments[1 << 15];  // the most that a launch takes
  return run({steps.data()}, steps.data() + steps.size(), 0, arguments, call);
}

}  // namespace autotune
