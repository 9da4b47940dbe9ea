#pragma once
#include "convolution/conv2d/taps.cuh"
#include "cuda/numbers.cuh"
#include "epilogue/activation.cuh"
// One thread computes one element of D, directly from global memory.

__device__ __forceinline__ void conv2d_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const int channels = problem.n * problem.batch;  // of D
  if (index >= static_cast<long long>(problem.m) * channels) return;
  const int pixel = index / channels, filter = index % channels;
  const Pixel seen = locate_pixel(problem, pixel);
  const auto* x = arguments.x + filter / problem.n * problem.channels;
  const auto* weight = arguments.weight + static_cast<long long>(filter) * problem.k;
  float sum = 0;
  for (int term = 0; term < problem.k; ++term) {
    const Tap tap(problem, term);
    // A zero is multiplied, too: the weight may be infinite.
    const float element = seen.sees(problem, tap) ? to_float(x[seen.offset + tap.offset(problem)]) : 0.0f;
    sum = fmaf(element, to_float(weight[term]), sum);
  }
  const long long place = pixel * problem.ldd + filter;
  float own_bias = 0, before = 0;
#if bias
  own_bias = to_float(arguments.bias[filter]);
#endif
#if beta_nonzero
  before = to_float(arguments.c[place]);
#endif
  arguments.d[place] = from_float<Problem::Element>(finished(arguments, problem, sum, own_bias, before));
}
