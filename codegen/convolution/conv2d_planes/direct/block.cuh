#pragma once
#include "cuda/numbers.cuh"
#include "epilogue/activation.cuh"
// D = activation(alpha·X∗W + bias) + beta·C of planes, each of which has filters of its own. A thread has
// some pixels below each other, and its neighbours those beside them. All of their products are written out.

// The rows that a thread's pixels see.
constexpr int window_h =
    (Schedule::rows - 1) * Problem::stride_h + (Problem::kernel_h - 1) * Problem::dilation_h + 1;

// The row of the filter under which a row of pixels sees a row of the window; -1 if none.
__device__ constexpr int row_of_filter(int seen, int pixel) {
  const int distance = seen - pixel * Problem::stride_h;
  const bool there = distance >= 0 && distance % Problem::dilation_h == 0;
  return there && distance / Problem::dilation_h < Problem::kernel_h ? distance / Problem::dilation_h : -1;
}

__device__ __forceinline__ void conv2d_planes_block(const Arguments& arguments) {
  using Element = Problem::Element;
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  const int strips = (problem.out_height - 1) / Schedule::rows + 1, filters = problem.n * problem.batch;
  const long long strip = index / problem.out_width, plane = strip / strips;
  const int image = plane / filters, filter = plane - static_cast<long long>(image) * filters;
  if (image >= problem.images) return;
  const int q = index - strip * problem.out_width, p = (strip - plane * strips) * Schedule::rows;
  const int y = p * Problem::stride_h - Problem::padding_h, x = q * Problem::stride_w - Problem::padding_w;
  const long long seen = static_cast<long long>(image) * problem.batch + filter / problem.n;
  const Element* source = arguments.x + seen * problem.height * problem.width;
  constexpr int taps = Problem::kernel_h * Problem::kernel_w;
  float factors[taps];
#pragma unroll
  for (int i = 0; i < taps; ++i)
    factors[i] = to_float(arguments.weight[static_cast<long long>(filter) * taps + i]);

  float sums[Schedule::rows] = {};
#pragma unroll
  for (int i = 0; i < window_h; ++i) {
    const bool inside = static_cast<unsigned>(y + i) < static_cast<unsigned>(problem.height);
#pragma unroll
    for (int s = 0; s < Problem::kernel_w; ++s) {
      const int column = x + s * Problem::dilation_w;
      float element = 0.0f;
      if (inside && static_cast<unsigned>(column) < static_cast<unsigned>(problem.width))
        element = to_float(source[static_cast<long long>(y + i) * problem.width + column]);
#pragma unroll
      for (int row = 0; row < Schedule::rows; ++row) {
        const int r = row_of_filter(i, row);
        if (r >= 0) sums[row] = fmaf(element, factors[r * Problem::kernel_w + s], sums[row]);
      }
    }
  }

  float own_bias = 0.0f;
#if bias
  own_bias = to_float(arguments.bias[filter]);
#endif
#pragma unroll
  for (int row = 0; row < Schedule::rows; ++row) {
    if (p + row >= problem.out_height) continue;
    const long long place = (plane * problem.out_height + p + row) * problem.out_width + q;
    float before = 0.0f;
#if beta_nonzero
    before = to_float(arguments.c[place]);
#endif
    arguments.d[place] = from_float<Element>(finished(arguments, problem, sums[row], own_bias, before));
  }
}
