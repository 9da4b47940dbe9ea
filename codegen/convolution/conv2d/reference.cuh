#pragma once
#include "convolution/conv2d/store_pixel.cuh"
#include "convolution/conv2d/taps.cuh"
#include "matmul/double_sums.cuh"
// The truth that other kernels are compared with on a device: in double, from the operands to what is stored.

__device__ __forceinline__ void conv2d_reference(const Arguments& arguments) {
  const Problem problem(arguments);
  const int tiles_m = (problem.m - 1u) / sums_tile + 1, tiles_n = (problem.n - 1u) / sums_tile + 1;
  const int first_m = blockIdx.x / tiles_n % tiles_m * sums_tile;
  const int first_n = blockIdx.x % tiles_n * sums_tile;
  const long long group = blockIdx.x / tiles_n / tiles_m;
  const auto* x = arguments.x + group * problem.channels;
  const auto* weight = arguments.weight + group * problem.n * problem.k;
  double sums[sums_side][sums_side];
  const auto load_pixel = [&](int across, int term) {
    const Pixel pixel = locate_pixel(problem, first_m + across);
    const Tap tap(problem, term);
    return pixel.sees(problem, tap) ? static_cast<double>(to_float(x[pixel.offset + tap.offset(problem)]))
                                    : 0.0;
  };
  const auto load_filter = [&](int across, int term) {
    const long long filter = first_n + across;
    return filter < problem.n ? static_cast<double>(to_float(weight[filter * problem.k + term])) : 0.0;
  };
  double_sums<true, true>(problem.k, sums, load_pixel, load_filter);

  for (int i = 0; i < sums_side; ++i) {
    for (int j = 0; j < sums_side; ++j) {
      const int m = first_m + sums_row(i), n = first_n + sums_column(j);
      if (m >= problem.m || n >= problem.n) continue;
      const long long filter = group * problem.n + n;
      store_pixel(arguments, problem, sums[i][j], m * problem.ldd + filter, filter, arguments.d);
    }
  }
}
