#pragma once
#include "convolution/store_number.cuh"
#include "cuda/numbers.cuh"
// One thread computes one element of D, directly from global memory; as the reference, in double.

template <class Number>
__device__ __forceinline__ void conv2d_input_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long pixel = index / problem.n, line = pixel / problem.width;
  const int channel = index - pixel * problem.n, x = pixel - line * problem.width;
  const int image = line / problem.height, y = line - image * static_cast<long long>(problem.height);
  if (image >= problem.images) return;
  Number sum = 0;
  for (int r = 0; r < Problem::kernel_h; ++r) {
    for (int s = 0; s < Problem::kernel_w; ++s) {
      const int down = y + Problem::padding_h - r * Problem::dilation_h;
      const int along = x + Problem::padding_w - s * Problem::dilation_w;
      if (down % Problem::stride_h != 0 || along % Problem::stride_w != 0) continue;
      const int p = down / Problem::stride_h, q = along / Problem::stride_w;
      const bool seen = 0 <= p && p < problem.out_height && 0 <= q && q < problem.out_width;
      const long long from = (static_cast<long long>(image) * problem.out_height + p) * problem.out_width + q;
      for (int k = 0; k < problem.filters; ++k) {
        const long long tap = (static_cast<long long>(k) * Problem::kernel_h + r) * Problem::kernel_w + s;
        // A zero is multiplied, too: the weight may be infinite.
        const Number gradient =
            seen ? static_cast<Number>(to_float(arguments.grad[from * problem.filters + k])) : Number(0);
        sum += gradient * static_cast<Number>(to_float(arguments.weight[tap * problem.n + channel]));
      }
    }
  }
  const long long place = image * problem.stride_x_n + y * problem.stride_x_h + x * problem.stride_x_w;
  const bool nothing = arguments.alpha == 0.0f;
  store_number(arguments.d + place + channel, nothing ? Number(0) : arguments.alpha * sum);
}
