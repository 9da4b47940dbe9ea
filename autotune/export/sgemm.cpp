#include "sgemm.h"

#include <string>

#include "tables.hpp"

using namespace autotune;

namespace {

constexpr int most = 1 << 20;
constexpr int kernel_count = sizeof(kernels) / sizeof(kernels[0]);
constexpr int record_count = sizeof(records) / sizeof(records[0]);
CUkernel loaded[kernel_count];

CUresult load(const std::string& path, const Kernel& kernel, CUdevice device, CUkernel* handle) {
  CUlibrary library;
  CUresult result = cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result == CUDA_SUCCESS) result = cuLibraryGetKernel(handle, library, entry);
  if (result == CUDA_SUCCESS)
    result = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.shared_bytes,
                                  *handle, device);
  return result;
}

int kernel_of(int m, int n, int k) {
  const int found = autotune_sgemm_record(m, n, k);
  if (found < 0) return any_kernel;
  const Record& record = records[found];
  const bool own = m == record.size.m && n == record.size.n && k == record.size.k;
  const bool larger = m > record.block_m && n > record.block_n && k > record.block_k;
  return own ? record.own_kernel : larger ? record.larger_kernel : record.any_kernel;
}

long long tile_count(const Kernel& kernel, int m, int n) {
  return divide_up(m, kernel.block_m) * divide_up(n, kernel.block_n);
}

}  // namespace

CUresult autotune_sgemm_load(const char* folder) {
  CUdevice current;
  CUresult result = cuCtxGetDevice(&current);
  for (int i = 0; i < kernel_count && result == CUDA_SUCCESS; ++i)
    result = load(std::string(folder) + "/" + kernels[i].file, kernels[i], current, &loaded[i]);
  return result;
}

int autotune_sgemm_record(int m, int n, int k) {
  return select(device, records, record_count, transpose_a, transpose_b, Size{m, n, k});
}

size_t autotune_sgemm_workspace_bytes(int m, int n, int k) {
  const Kernel& kernel = kernels[kernel_of(m, n, k)];
  const long long tiles = tile_count(kernel, m, n);
  return workspace_bytes(kernel.grid_blocks, kernel.cluster_k, kernel.block_m, kernel.block_n, tiles);
}

CUresult autotune_sgemm(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int m, int n, int k, float alpha,
                        float beta, CUdeviceptr workspace, CUstream stream) {
  if (std::min(std::min(m, n), k) < 1 || std::max(std::max(m, n), k) > most) return CUDA_ERROR_INVALID_VALUE;
  const int chosen = kernel_of(m, n, k);
  const Kernel& kernel = kernels[chosen];
  if (!loaded[chosen]) return CUDA_ERROR_NOT_INITIALIZED;
  Arguments arguments{};
  arguments.a = reinterpret_cast<const float*>(a);
  arguments.b = reinterpret_cast<const float*>(b);
  arguments.c = reinterpret_cast<float*>(c);
  arguments.workspace = reinterpret_cast<void*>(workspace);
  arguments.m = m;
  arguments.n = n;
  arguments.k = k;
  arguments.batch = 1;
  arguments.lda = transpose_a ? m : k;
  arguments.ldb = transpose_b ? k : n;
  arguments.ldc = n;
  arguments.alpha = alpha;
  arguments.beta = beta;
  void* parameters[] = {&arguments};
  const long long blocks =
      kernel.grid_blocks ? kernel.grid_blocks : tile_count(kernel, m, n) * kernel.cluster_k;
  return cuLaunchKernel(reinterpret_cast<CUfunction>(loaded[chosen]), static_cast<unsigned>(blocks), 1, 1,
                        kernel.threads, 1, 1, kernel.shared_bytes, stream, parameters, nullptr);
}
