#pragma once
#include <cuda.h>

#include <cstring>
#include <string>

#include "choose.hpp"
// Loading and launching by the CUDA driver.

namespace autotune {

inline CUkernel loaded[programs.size()][entries.size()];

inline CUresult load_program(const std::string& path, std::size_t program, CUdevice device,
                             int most_shared_bytes) {
  CUlibrary library;
  CUresult result = cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  for (std::size_t entry = 0; entry < entries.size() && result == CUDA_SUCCESS; ++entry) {
    CUkernel& kernel = loaded[program][entry];
    result = cuLibraryGetKernel(&kernel, library, entries[entry]);
    if (result == CUDA_ERROR_NOT_FOUND) {  // an entry of other programs
      kernel = nullptr;
      result = CUDA_SUCCESS;
      continue;
    }
    int static_bytes = 0;
    if (result == CUDA_SUCCESS)
      result = cuKernelGetAttribute(&static_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, device);
    if (result == CUDA_SUCCESS)
      result = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    most_shared_bytes - static_bytes, kernel, device);
  }
  return result;
}

inline CUresult load(const char* folder) {
  CUdevice device;
  int most_shared_bytes = 0;
  CUresult result = cuCtxGetDevice(&device);
  if (result == CUDA_SUCCESS)
    result = cuDeviceGetAttribute(&most_shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                  device);
  for (std::size_t program = 0; program < programs.size() && result == CUDA_SUCCESS; ++program)
    result = load_program(std::string(folder) + "/" + programs[program], program, device, most_shared_bytes);
  return result;
}

inline CUresult run_step(Plan& plan, const Step& step, CUdeviceptr workspace, CUstream stream) {
  if (step.entry < 0)
    return cuMemsetD8Async(workspace + step.offset, static_cast<unsigned char>(step.value), step.bytes,
                           stream);
  const unsigned *grid = step.grid, *block = step.block;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return CUDA_SUCCESS;
  const CUkernel kernel = loaded[step.program][step.entry];
  if (!kernel) return CUDA_ERROR_NOT_INITIALIZED;
  void* parameters[] = {plan.at(step.arguments)};
  return cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), grid[0], grid[1], grid[2], block[0], block[1],
                        block[2], step.shared_bytes, stream, parameters, nullptr);
}

inline CUresult encode(CUtensorMap* encoded, const TensorMap& map, CUdeviceptr address) {
  const auto type = static_cast<CUtensorMapDataType>(map.type);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(map.swizzle);
  auto* const begin = reinterpret_cast<void*>(address + map.offset);
  constexpr auto interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  constexpr auto promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  constexpr auto fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  if (map.im2col)
    return cuTensorMapEncodeIm2col(encoded, type, map.rank, begin, map.shape, map.strides, map.lower,
                                   map.upper, map.box[0], map.box[1], map.steps, interleave, swizzle,
                                   promotion, fill);
  return cuTensorMapEncodeTiled(encoded, type, map.rank, begin, map.shape, map.strides, map.box, map.steps,
                                interleave, swizzle, promotion, fill);
}

// `brought`: where the addresses and the scalars of a call are.
inline CUresult run(Plan& plan, const void* const* brought, CUdeviceptr workspace, CUstream stream) {
  if (plan.workspace_bytes && !workspace) return CUDA_ERROR_INVALID_VALUE;
  for (const Taken& one : plan.taken) plan.put(one.position, one.bytes, brought[one.number], one.offset);
  CUresult result = CUDA_SUCCESS;
  for (const TensorMap& map : plan.maps)
    if (result == CUDA_SUCCESS)
      result = encode(reinterpret_cast<CUtensorMap*>(plan.at(map.position)), map,
                      *static_cast<const CUdeviceptr*>(brought[map.tensor]));
  for (const Step& step : plan.steps)
    if (result == CUDA_SUCCESS) result = run_step(plan, step, workspace, stream);
  return result;
}

}  // namespace autotune
