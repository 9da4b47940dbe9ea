// A CUDA driver that prints what it is asked to launch. Maps are zeros once they are printed.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Kernel {
  std::string program, entry;
};

extern "C" {
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  return *value = 1 << 16, CUDA_SUCCESS;
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  *library = reinterpret_cast<CUlibrary>(new std::string(path));
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* entry) {
  *kernel = reinterpret_cast<CUkernel>(new Kernel{*reinterpret_cast<std::string*>(library), entry});
  return CUDA_SUCCESS;
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute, CUkernel, CUdevice) {
  return *value = 0, CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) { return CUDA_SUCCESS; }

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream) {
  std::printf(" set %llx %zu %d", address, bytes, value);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* shape, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  if (reinterpret_cast<size_t>(map) % 64 != 0) return CUDA_ERROR_INVALID_VALUE;
  std::printf(" map %p %d %d", address, type, swizzle);
  for (cuuint32_t axis = 0; axis < rank; ++axis)
    std::printf(" %lu %lu %u %u", shape[axis], axis + 1 < rank ? strides[axis] : 0, box[axis], steps[axis]);
  std::memset(static_cast<void*>(map), 0, sizeof *map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* shape, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* steps, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  if (reinterpret_cast<size_t>(map) % 64 != 0) return CUDA_ERROR_INVALID_VALUE;
  std::printf(" pixels %p %d %d %u %u", address, type, swizzle, channels, pixels);
  for (cuuint32_t axis = 0; axis < rank; ++axis)
    std::printf(" %lu %lu %u", shape[axis], axis + 1 < rank ? strides[axis] : 0, steps[axis]);
  for (cuuint32_t axis = 0; axis < rank - 2; ++axis) std::printf(" %d %d", lower[axis], upper[axis]);
  std::memset(static_cast<void*>(map), 0, sizeof *map);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads,
                        unsigned rows, unsigned layers, unsigned shared_bytes, CUstream, void** parameters,
                        void**) {
  const auto& kernel = *reinterpret_cast<const Kernel*>(function);
  std::printf(" %s %s %u %u %u %u %u %u %u ", kernel.program.c_str(), kernel.entry.c_str(), x, y, z, threads,
              rows, layers, shared_bytes);
  for (size_t byte = 0; byte < ARGUMENT_BYTES; ++byte)
    std::printf("%02x", static_cast<const unsigned char*>(parameters[0])[byte]);
  return CUDA_SUCCESS;
}
}
