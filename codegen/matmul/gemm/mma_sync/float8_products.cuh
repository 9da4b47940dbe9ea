#pragma once
#include "cuda/tensor_core_8bit.cuh"
#include "cuda/products.cuh"
// Products of 16×32 by 32×8 numbers of float8 on any device.

// Two of the four numbers in a register as two float16, which hold them exactly.
__device__ __forceinline__ unsigned float16_pair_of(unsigned four, int half, float8_e4m3) {
  return float16_pair(static_cast<unsigned short>(four >> 16 * half));
}
__device__ __forceinline__ unsigned float16_pair_of(unsigned four, int half, float8_e5m2) {
  return __byte_perm(four, 0, half == 0 ? 0x1404 : 0x3424);
}

// D plus A·B by products of float16: terms change places alike in A and B.
template <typename A, typename B>
__device__ __forceinline__ void add_product_as_float16(float (&d)[4], const unsigned (&a)[4],
                                                       const unsigned (&b)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    unsigned of_a[4], of_b[2];
#pragma unroll
    for (int i = 0; i < 4; ++i) of_a[i] = float16_pair_of(a[2 * half + i % 2], i / 2, A{});
#pragma unroll
    for (int i = 0; i < 2; ++i) of_b[i] = float16_pair_of(b[half], i, B{});
    add_product_anywhere<float16>(d, of_a, of_b);
  }
}

// D += A·B.
template <typename A, typename B>
__device__ __forceinline__ void add_narrow_product(float (&d)[4], const unsigned (&a)[4],
                                                   const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 890
  add_product_of_float8<A, B>(d, a, b);
#else
  add_product_as_float16<A, B>(d, a, b);
#endif
}
