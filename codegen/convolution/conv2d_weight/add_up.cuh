#pragma once
#include "cuda/shared_memory.cuh"

// Adds up the sums of a block's threads by halves, in a fixed order: `parts` threads side by side have sums
// of their own, and as many behind them the same of other pixels, `tiles` times. The first ones get all, and
// call `store`.
template <int parts, int tiles, int count, int width, typename Store>
__device__ __forceinline__ void add_up(float (&sums)[count][width], const Store& store) {
  const int own = threadIdx.x / parts;
#pragma unroll
  for (int half = tiles / 2; half > 0; half /= 2) {
    float* place = dynamic_shared<float>() + own % half * parts + threadIdx.x % parts;
    if (own >= half && own < 2 * half) {
#pragma unroll
      for (int i = 0; i < count * width; ++i) place[i * half * parts] = sums[i / width][i % width];
    }
    __syncthreads();
    if (own < half) {
#pragma unroll
      for (int i = 0; i < count * width; ++i) sums[i / width][i % width] += place[i * half * parts];
    }
    __syncthreads();
  }
  if (own == 0) store();
}
