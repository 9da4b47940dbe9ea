#pragma once
#include "convolution/conv2d/store_pixel.cuh"
#include "convolution/conv2d/taps.cuh"
// One thread computes one element of D, directly from global memory, in `Number`.

template <typename Number>
__device__ __forceinline__ void conv2d_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const int channels = problem.n * problem.batch;  // of D
  if (index >= static_cast<long long>(problem.m) * channels) return;
  const int pixel = index / channels, filter = index % channels;
  const Pixel seen = locate_pixel(problem, pixel);
  const auto* x = arguments.x + filter / problem.n * problem.channels;
  const auto* weight = arguments.weight + static_cast<long long>(filter) * problem.k;
  Number sum = 0;
  for (int term = 0; term < problem.k; ++term) {
    const Tap tap(problem, term);
    // A zero is multiplied, too: the weight may be infinite.
    const float element = seen.sees(problem, tap) ? to_float(x[seen.offset + tap.offset(problem)]) : 0.0f;
    sum += static_cast<Number>(element) * to_float(weight[term]);
  }
  store_pixel(arguments, problem, sum, pixel * problem.ldd + filter, filter, arguments.d);
}
