#pragma once
// Chains of fused multiply-adds in registers, as many side by side as hide the latency of each.

__device__ __forceinline__ void multiply_add_block(const Arguments& arguments) {
  constexpr int chains = 16, unroll = 16;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float sums[chains];
#pragma unroll
  for (int chain = 0; chain < chains; ++chain) sums[chain] = static_cast<float>(thread % 64 + chain);
#pragma unroll 1
  for (int pass = 0; pass < arguments.passes; ++pass) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int chain = 0; chain < chains; ++chain) sums[chain] = fmaf(sums[chain], arguments.x, arguments.y);
    }
  }
  float sum = 0.0f;
#pragma unroll
  for (int chain = 0; chain < chains; ++chain) sum += sums[chain];
  arguments.sums[thread] = sum;
}
