#pragma once
#include "convolution/conv2d_weight/seen_pixel.cuh"
#include "cuda/numbers.cuh"
#include "matmul/double_sums.cuh"
// The truth that other kernels are compared with on a device: in double, from the operands to what is stored.

__device__ __forceinline__ void conv2d_weight_reference(const Arguments& arguments) {
  const Problem problem(arguments);
  const int tiles_m = (problem.m - 1u) / sums_tile + 1, tiles_n = (problem.n - 1u) / sums_tile + 1;
  const int first_m = blockIdx.x / tiles_n % tiles_m * sums_tile;
  const int first_n = blockIdx.x % tiles_n * sums_tile;
  const long long group = blockIdx.x / tiles_n / tiles_m;
  const auto* x = arguments.x + group * problem.channels;
  const auto* grad = arguments.grad + group * problem.m;
  double sums[sums_side][sums_side];
  const auto load_gradient = [&](int across, int pixel) {
    const int filter = first_m + across;
    const long long place = static_cast<long long>(pixel) * problem.filters + filter;
    return filter < problem.m ? static_cast<double>(to_float(grad[place])) : 0.0;
  };
  const auto load_term = [&](int across, int pixel) {
    const SeenPixel seen(problem, pixel);
    const Tap tap(problem, first_n + across);
    return seen.sees(problem, tap) ? static_cast<double>(to_float(x[seen.offset(problem, tap)])) : 0.0;
  };
  double_sums<false, false>(problem.k, sums, load_gradient, load_term);

  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;
  for (int i = 0; i < sums_side; ++i) {
    for (int j = 0; j < sums_side; ++j) {
      const int m = first_m + sums_row(i), n = first_n + sums_column(j);
      if (m < problem.m && n < problem.n)
        arguments.d[(group * problem.m + m) * problem.n + n] = nothing ? 0.0 : arguments.alpha * sums[i][j];
    }
  }
}
