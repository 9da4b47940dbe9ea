#pragma once
#include "cuda/tensor_core_tf32.cuh"
// Products of 16×8 by 8×8 numbers of TF32 on any device: by tensor cores, or else by FMAs.

// What tensor cores take for the TF32 number next to a float, ties away from zero: they do not count the 13
// lowest bits, which may stay. cvt.rna.tf32 takes an instruction more than these two (ptxas 13.5, sm_90).
__device__ __forceinline__ unsigned near_tf32(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return fabsf(__uint_as_float(value)) < __uint_as_float(0x7f800000u) ? value + 0x1000u : value;
#else
  return round_to_tf32(value);
#endif
}

// Rounds what a lane has of an operand.
template <int count>
__device__ __forceinline__ void round_all(unsigned (&registers)[count][4]) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) registers[i][j] = near_tf32(registers[i][j]);
  }
}

// D plus A·B, whose other elements of a row or a column are with other lanes. A function that is called: it
// is long, and a kernel has many products.
__device__ __noinline__ float4 sum_of_tf32_products(float4 d, uint4 a, uint2 b) {
  const int lane = threadIdx.x % 32;
  const unsigned of_a[4] = {a.x, a.y, a.z, a.w}, of_b[2] = {b.x, b.y};
  float sums[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int place = 0; place < 4; ++place) {
      float rows[2], columns[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const unsigned row = __shfl_sync(0xffffffffu, of_a[2 * half + i], lane / 4 * 4 + place);
        const unsigned column = __shfl_sync(0xffffffffu, of_b[half], (lane % 4 * 2 + i) * 4 + place);
        rows[i] = __uint_as_float(row);
        columns[i] = __uint_as_float(column);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = fmaf(rows[i / 2], columns[i % 2], sums[i]);
    }
  }
  return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// D += A·B.
template <typename>
__device__ __forceinline__ void add_product_anywhere(float (&d)[4], const unsigned (&a)[4],
                                                     const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  add_product_of_tf32(d, a, b);
#else
  const float4 sums = sum_of_tf32_products(make_float4(d[0], d[1], d[2], d[3]),
                                           make_uint4(a[0], a[1], a[2], a[3]), make_uint2(b[0], b[1]));
  d[0] = sums.x, d[1] = sums.y, d[2] = sums.z, d[3] = sums.w;
#endif
}
