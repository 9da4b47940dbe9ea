#pragma once
#include "cuda/tensor_core.cuh"
// Chains of matrix products in registers: each warp multiplies the same two tiles of bfloat16 again and
// again.

__device__ __forceinline__ void multiply_tiles_block(const Arguments& arguments) {
  constexpr int chains = 8, unroll = 4;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned a[4], b[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = arguments.tiles[32 * i + lane];
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = arguments.tiles[32 * (4 + i) + lane];
  float c[chains][4];  // chains that began alike would be computed once
#pragma unroll
  for (int i = 0; i < 4 * chains; ++i) c[i / 4][i % 4] = static_cast<float>(i / 4);
#pragma unroll 1
  for (int pass = 0; pass < arguments.passes; ++pass) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int chain = 0; chain < chains; ++chain) add_product<bfloat16>(c[chain], a, b);
    }
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4 * chains; ++i) sum += c[i / 4][i % 4];
  arguments.sums[thread] = sum;
}
