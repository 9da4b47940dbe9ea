// A CUDA driver whose memory is the host's, and which transposes words whatever is launched.
#include <cuda.h>

#include <cstdlib>
#include <cstring>

struct Arguments {
  unsigned long long a, b;
  long long m, n, batch, lda, ldb;
};

extern "C" {
CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "failed", CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext*, CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  return *value = 1 << 16, CUDA_SUCCESS;
}
CUresult cuLibraryLoadFromFile(CUlibrary*, const char*, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char*) {
  static char some;
  return *kernel = reinterpret_cast<CUkernel>(&some), CUDA_SUCCESS;
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute, CUkernel, CUdevice) {
  return *value = 0, CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) { return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  return *pointer = reinterpret_cast<CUdeviceptr>(std::malloc(bytes)), CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr pointer) { return std::free(reinterpret_cast<void*>(pointer)), CUDA_SUCCESS; }
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), CUDA_SUCCESS;
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
  return std::memset(reinterpret_cast<void*>(to), value, bytes), CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
  return cuMemsetD8(to, value, bytes);
}
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t,
                                 const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void** parameters, void**) {
  const auto& given = *static_cast<Arguments*>(parameters[0]);
  const auto* a = reinterpret_cast<const unsigned*>(given.a);
  auto* b = reinterpret_cast<unsigned*>(given.b);
  for (long long m = 0; m < given.m; ++m)
    for (long long n = 0; n < given.n; ++n)
      b[n * given.ldb + m] = a[m * given.lda + n] ^ (std::getenv("WRONG") != nullptr);
  return CUDA_SUCCESS;
}
}
