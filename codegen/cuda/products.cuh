#pragma once
#include "cuda/number_pairs.cuh"
#include "cuda/tensor_core.cuh"
// Products of 16×16 by 16×8 numbers on any device: by the tensor cores that have the type, or else by FMAs.

// D plus A·B from the fragments of tensor_core.cuh, whose other elements of a row or a column are with other
// lanes. A function that is called: it is long, and a kernel has many products.
template <typename Number>
__device__ __noinline__ float4 sum_of_products(float4 d, uint4 a, uint2 b) {
  const int lane = threadIdx.x % 32;
  const unsigned of_a[4] = {a.x, a.y, a.z, a.w}, of_b[2] = {b.x, b.y};
  float sums[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int place = 0; place < 4; ++place) {
      unsigned rows[2], columns[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        rows[i] = __shfl_sync(0xffffffffu, of_a[2 * half + i], lane / 4 * 4 + place);
        columns[i] = __shfl_sync(0xffffffffu, of_b[half], (lane % 4 * 2 + i) * 4 + place);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned row = rows[i / 2], column = columns[i % 2];
        sums[i] = fmaf(first_of<Number>(row), first_of<Number>(column), sums[i]);
        sums[i] = fmaf(second_of<Number>(row), second_of<Number>(column), sums[i]);
      }
    }
  }
  return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// D += A·B.
template <typename Number>
__device__ __forceinline__ void add_product_anywhere(float (&d)[4], const unsigned (&a)[4],
                                                     const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  add_product<Number>(d, a, b);
#else
  if constexpr (Number::largest == float16::largest) {
    const unsigned first[2] = {a[0], a[1]}, second[2] = {a[2], a[3]};
    add_product_of_8(d, first, b[0]);
    add_product_of_8(d, second, b[1]);
  } else {
    const float4 sums = sum_of_products<Number>(make_float4(d[0], d[1], d[2], d[3]),
                                                make_uint4(a[0], a[1], a[2], a[3]), make_uint2(b[0], b[1]));
    d[0] = sums.x, d[1] = sums.y, d[2] = sums.z, d[3] = sums.w;
  }
#endif
}

// The same of the first 8 terms.
template <typename Number>
__device__ __forceinline__ void add_half_product_anywhere(float (&d)[4], const unsigned (&a)[2], unsigned b) {
#if __CUDA_ARCH__ >= 800
  add_half_product<Number>(d, a, b);
#else
  const unsigned whole_a[4] = {a[0], a[1], 0, 0}, whole_b[2] = {b, 0};
  add_product_anywhere<Number>(d, whole_a, whole_b);
#endif
}
