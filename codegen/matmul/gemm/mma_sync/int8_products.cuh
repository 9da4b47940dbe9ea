#pragma once
#include "cuda/tensor_core_8bit.cuh"
// Products of 16×32 by 32×8 integers of 8 bits on any device.

// D += A·B.
template <typename, typename>
__device__ __forceinline__ void add_narrow_product(int (&d)[4], const unsigned (&a)[4],
                                                   const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  add_product_of_int8(d, a, b);
#else
#  pragma unroll
  for (int half = 0; half < 2; ++half) {
    add_quarter_of_int8<0>(d, a[2 * half], b[half]);
    add_quarter_of_int8<2>(d, a[2 * half + 1], b[half]);
  }
#endif
}
