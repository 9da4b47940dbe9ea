#pragma once
#include "convolution/conv2d/winograd/transform.cuh"

// The launch ahead of the products: U = G·g·Gᵀ of each filter and channel.
__device__ __forceinline__ void transform_filters(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long thread = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  const int block = thread / problem.n;  // of channels; threads side by side have filters side by side
  if (block * vector < problem.channels)
    transform_filter(arguments, problem, thread - block * static_cast<long long>(problem.n), block * vector);
}
