// A CUDA driver that prints the arguments of each launch, and a program that launches the probe once.
#include <cuda.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

extern "C" {
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
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream) { return CUDA_SUCCESS; }

// A map has what it is encoded of, one word each; others are zeros.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* shape, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  if (reinterpret_cast<size_t>(map) % 64 != 0) return CUDA_ERROR_INVALID_VALUE;
  cuuint64_t words[16] = {reinterpret_cast<cuuint64_t>(address), static_cast<cuuint64_t>(type),
                          static_cast<cuuint64_t>(swizzle), rank};
  cuuint64_t* word = words + 4;
  for (cuuint32_t axis = 0; axis < rank; ++axis) {
    if (steps[axis] != 1) return CUDA_ERROR_INVALID_VALUE;
    *word++ = shape[axis];
    if (axis + 1 < rank) *word++ = strides[axis];
    *word++ = box[axis];
  }
  std::memcpy(map, words, sizeof words);
  return CUDA_SUCCESS;
}

// In im2col mode, after these: the box, then corners and steps.
CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* shape, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* steps, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  cuuint64_t words[16] = {reinterpret_cast<cuuint64_t>(address), static_cast<cuuint64_t>(type),
                          static_cast<cuuint64_t>(swizzle), rank};
  cuuint64_t* word = words + 4;
  for (cuuint32_t axis = 0; axis < rank; ++axis) *word++ = shape[axis];
  *word++ = strides[0], *word++ = channels, *word++ = pixels;
  for (cuuint32_t axis = 0; axis < rank - 2; ++axis)
    *word++ =
        static_cast<cuuint64_t>(100 * lower[axis] + 10 * upper[axis] + static_cast<int>(steps[axis + 1]));
  std::memcpy(map, words, sizeof words);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void** parameters, void**) {
  const auto* bytes = static_cast<const unsigned char*>(parameters[0]);
  for (size_t i = 0; i < PRINTED; ++i) std::printf("%02x", bytes[i]);
  std::puts("");
  return CUDA_SUCCESS;
}
}

int main() {
  autotune_probe_load(".");
  return autotune_probe(0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 100, 200, 0x6000, nullptr);
}
