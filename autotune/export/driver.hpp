#pragma once
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "choose.hpp"
// Loading and launching by the CUDA driver.

namespace autotune {

inline CUkernel loaded[programs.size()][entries.size()];

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
  for (std::size_t program = 0; program < programs.size(); ++program) {
    const std::string path = std::string(folder) + "/" + programs[program];
    CUlibrary library = nullptr;
    then(cuLibraryLoadFromFile, &library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    for (std::size_t entry = 0; entry < entries.size(); ++entry) {
      CUkernel& kernel = loaded[program][entry];
      then(cuLibraryGetKernel, &kernel, library, entries[entry]);
      if (result == CUDA_ERROR_NOT_FOUND) {  // an entry of other programs
        kernel = nullptr;
        result = CUDA_SUCCESS;
        continue;
      }
      then(cuKernelGetAttribute, &static_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, device);
      then(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
           most_shared_bytes - static_bytes, kernel, device);
      if (major >= 9)
        then(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel, device);
    }
  }
  return result;
}

// Some of a step's numbers, from the first one on.
template <typename T, std::size_t count>
std::array<T, count> numbers(const Step& step, std::size_t first = 0) {
  std::array<T, count> found;
  for (std::size_t one = 0; one < count; ++one) found[one] = static_cast<T>(step.numbers[first + one].whole);
  return found;
}

// What a call brings: where its addresses and its scalars are.
struct Call {
  const void* const* brought;
  CUdeviceptr workspace;
  CUstream stream;

  CUdeviceptr address(int number) const { return *static_cast<const CUdeviceptr*>(brought[number]); }
};

// Position, bytes, whether it is real, the number, what each turn adds. Of a whole number, the lowest bytes.
inline void put_number(const Step& step, int turn, unsigned char* arguments) {
  const auto [position, bytes, is_real] = numbers<int, 3>(step);
  const Whole whole = step.numbers[3].whole + turn * step.numbers[4].whole;
  const double real = step.numbers[3].real;
  const float single = static_cast<float>(real);
  const void* const rounded = bytes == sizeof single ? static_cast<const void*>(&single) : &real;
  std::memcpy(arguments + position, is_real ? rounded : &whole, bytes);
}

// Position, bytes, what a call brings, what is added if that is an address.
inline void take_brought(const Step& step, const Call& call, unsigned char* arguments) {
  const auto [position, bytes, number, offset] = numbers<long long, 4>(step);
  const CUdeviceptr address = offset ? call.address(number) + offset : 0;
  std::memcpy(arguments + position, offset ? &address : call.brought[number], bytes);
}

// Position, tensor, type, swizzle, rank, whether in im2col mode; shape in elements, strides in bytes, box,
// steps, lower and upper corners, offset in bytes. Dimensions begin with the one along which elements are
// neighbours, whose stride is left out. In im2col mode the box is a number of channels and of pixels.
inline CUresult encode_map(const Step& step, const Call& call, unsigned char* arguments) {
  const auto [position, tensor, type_number, swizzle_number, rank, im2col] = numbers<int, 6>(step);
  const auto shape = numbers<std::uint64_t, 5>(step, 6), strides = numbers<std::uint64_t, 5>(step, 11);
  const auto box = numbers<std::uint32_t, 5>(step, 16), steps = numbers<std::uint32_t, 5>(step, 21);
  const auto lower = numbers<int, 3>(step, 26), upper = numbers<int, 3>(step, 29);
  const auto [offset] = numbers<long long, 1>(step, 32);
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
inline CUresult set_workspace(const Step& step, const Call& call) {
  const auto [offset, bytes, value] = numbers<std::size_t, 3>(step);
  return cuMemsetD8Async(call.workspace + offset, static_cast<unsigned char>(value), bytes, call.stream);
}

// Program, entry, blocks along x, y, z, threads along x, y, z, bytes of shared memory.
inline CUresult launch_kernel(const Step& step, const Call& call, unsigned char* arguments) {
  const auto [program, entry, x, y, z, threads, rows, layers, shared_bytes] = numbers<unsigned, 9>(step);
  if (x == 0 || y == 0 || z == 0) return CUDA_SUCCESS;
  const CUkernel kernel = loaded[program][entry];
  if (!kernel) return CUDA_ERROR_NOT_INITIALIZED;
  void* parameters[] = {arguments};
  return cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), x, y, z, threads, rows, layers, shared_bytes,
                        call.stream, parameters, nullptr);
}

// Run steps in a turn of a repetition; `arguments` are those of the next launch.
inline CUresult run(const Step* step, const Step* end, int turn, unsigned char* arguments, const Call& call) {
  CUresult result = CUDA_SUCCESS;
  for (; step < end && result == CUDA_SUCCESS; ++step) {
    if (step->kind == put) put_number(*step, turn, arguments);
    if (step->kind == take) take_brought(*step, call, arguments);
    if (step->kind == map) result = encode_map(*step, call, arguments);
    if (step->kind == set) result = set_workspace(*step, call);
    if (step->kind == launch) result = launch_kernel(*step, call, arguments);
    if (step->kind != repeat) continue;
    const auto [count, times] = numbers<int, 2>(*step);
    for (int next = 0; next < times && result == CUDA_SUCCESS; ++next)
      result = run(step + 1, step + 1 + count, next, arguments, call);
    step += count;
  }
  return result;
}

inline CUresult run(const Sizes& sizes, const Call& call) {
  if (!served(sizes)) return CUDA_ERROR_INVALID_VALUE;
  const auto& [schedule, workspace_bytes, steps] = chosen(sizes);
  if (schedule < 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (workspace_bytes && !call.workspace) return CUDA_ERROR_INVALID_VALUE;
  alignas(64) unsigned char arguments[1 << 15];  // the most that a launch takes
  return run(steps.data(), steps.data() + steps.size(), 0, arguments, call);
}

}  // namespace autotune
