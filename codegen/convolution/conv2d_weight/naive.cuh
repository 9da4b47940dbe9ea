#pragma once
#include "convolution/conv2d_weight/seen_pixel.cuh"
#include "cuda/numbers.cuh"
// One thread computes one element of D, directly from global memory.

__device__ __forceinline__ void conv2d_weight_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (index >= static_cast<long long>(problem.filters) * problem.n) return;
  const int filter = index / problem.n;
  const Tap tap(problem, index % problem.n);
  const auto* x = arguments.x + filter / problem.m * static_cast<long long>(problem.channels);
  float sum = 0;
  SeenPixel pixel(problem, 0);
  const SeenPixel step(problem, 1);
  for (int i = 0; i < problem.k; ++i, pixel.advance(problem, step)) {
    const float gradient = to_float(arguments.grad[static_cast<long long>(i) * problem.filters + filter]);
    // A zero is multiplied, too: the gradient may be infinite.
    sum = fmaf(pixel.sees(problem, tap) ? to_float(x[pixel.offset(problem, tap)]) : 0.0f, gradient, sum);
  }
  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;
  arguments.d[index] = from_float<Problem::Element>(nothing ? 0.0f : arguments.alpha * sum);
}
