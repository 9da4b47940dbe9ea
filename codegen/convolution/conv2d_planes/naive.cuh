#pragma once
#include "convolution/store_number.cuh"
#include "cuda/numbers.cuh"
#include "epilogue/activation.cuh"
// One thread computes one element of D, directly from global memory; as the reference, in double.

template <class Number>
__device__ __forceinline__ void conv2d_planes_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long line = index / problem.out_width, plane = line / problem.out_height;
  const int filters = problem.n * problem.batch, image = plane / filters;
  if (image >= problem.images) return;
  const int filter = plane % filters, column = index % problem.out_width, row = line % problem.out_height;
  const auto* x = arguments.x + (static_cast<long long>(image) * problem.batch + filter / problem.n) *
                                    problem.channels * problem.height * problem.width;
  const auto* weight = arguments.weight + static_cast<long long>(filter) * problem.k;
  Number sum = 0;
  for (int c = 0; c < problem.channels; ++c) {
    const auto* pixels = x + static_cast<long long>(c) * problem.height * problem.width;
    for (int r = 0; r < Problem::kernel_h; ++r) {
      for (int s = 0; s < Problem::kernel_w; ++s) {
        const int down = row * Problem::stride_h - Problem::padding_h + r * Problem::dilation_h;
        const int along = column * Problem::stride_w - Problem::padding_w + s * Problem::dilation_w;
        const bool seen = 0 <= down && down < problem.height && 0 <= along && along < problem.width;
        // A zero is multiplied, too: the weight may be infinite.
        const Number element =
            seen ? static_cast<Number>(to_float(pixels[static_cast<long long>(down) * problem.width + along]))
                 : Number(0);
        sum += element * static_cast<Number>(to_float(*weight++));
      }
    }
  }
  float own_bias = 0;
  Number before = 0;
#if bias
  own_bias = to_float(arguments.bias[filter]);
#endif
#if beta_nonzero
  before = to_float(arguments.c[index]);
#endif
  store_number(arguments.d + index, finished(arguments, problem, sum, own_bias, before));
}
