#pragma once
#include <cuda.h>
#include <stddef.h>
/* C = alpha*op(A)*op(B) + beta*C in FP32. Matrices are dense, row-major and aligned to 16 bytes; tables.hpp
   says which of them are stored transposed, and for which GPU the kernels are. Sizes are 1 to 1048576. Needs
   the CUDA driver only. */

#ifdef __cplusplus
extern "C" {
#endif

/* Load the kernels of a folder into the current context. */
CUresult autotune_sgemm_load(const char* folder);

/* Bytes of scratch that a launch of this size needs. They are zeroed once when they are allocated; launches
   leave them fit for the next one on the same stream, of the same size. */
size_t autotune_sgemm_workspace_bytes(int m, int n, int k);

/* Launch on a stream; with beta == 0 C is not read. workspace may be 0 where none is needed. */
CUresult autotune_sgemm(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int m, int n, int k, float alpha,
                        float beta, CUdeviceptr workspace, CUstream stream);

/* The number of the record that serves a size in tables.hpp; -1 for the kernel that serves any size. */
int autotune_sgemm_record(int m, int n, int k);

#ifdef __cplusplus
}
#endif
