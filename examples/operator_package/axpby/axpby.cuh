#pragma once

#include "cuda/packed.cuh"

// Each thread computes per_thread packs of elements, those of a block side by side; elements behind the last
// whole pack one by one.
__device__ __forceinline__ void axpby_block(const Arguments& arguments) {
  constexpr int width = Schedule::width;
  const float alpha = arguments.alpha, beta = arguments.beta;
  constexpr long long packs_of_block = Schedule::threads * Schedule::per_thread;
  const long long first = blockIdx.x * packs_of_block + threadIdx.x;
#pragma unroll
  for (int turn = 0; turn < Schedule::per_thread; ++turn) {
    const long long begin = (first + turn * Schedule::threads) * width;
    if (begin + width <= arguments.n) {
      const auto x = load_global<width, false>(arguments.x + begin);
      auto z = load_global<width, false>(arguments.y + begin);
#pragma unroll
      for (int i = 0; i < width; ++i) z.elements[i] = alpha * x.elements[i] + beta * z.elements[i];
      store_global<false>(arguments.z + begin, z);
    } else {
      for (long long i = begin; i < arguments.n; ++i) {
        arguments.z[i] = alpha * arguments.x[i] + beta * arguments.y[i];
      }
    }
  }
}
