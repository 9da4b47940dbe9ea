#pragma once
#include "matmul/double_sums.cuh"
#include "matmul/gemm/plain_result.cuh"
// The truth that other kernels are compared with on a device: in double, from the operands to what is stored.

template <typename To>
__device__ __forceinline__ void gemm_reference(const Arguments& arguments, To* d) {
  const Problem problem(arguments);
  const int columns = problem.n / parts;  // those of D
  const int tiles_m = (problem.m - 1u) / sums_tile + 1, tiles_n = (columns - 1u) / sums_tile + 1;
  const int first_m = blockIdx.x / tiles_n % tiles_m * sums_tile;
  const int first_n = blockIdx.x % tiles_n * sums_tile;
  const long long batch = blockIdx.x / tiles_n / tiles_m;
  const auto* a = arguments.a + batch * problem.stride_a;
  const auto* b = arguments.b + batch * problem.stride_b;
#if scales == block_scales
  const long long blocks = (problem.k - 1u) / 128 + 1;
#endif

  double products[parts][sums_side][sums_side];
  for (int part = 0; part < parts; ++part) {
    const auto load_a = [&](int across, int i) {
      const long long m = first_m + across;
      if (m >= problem.m) return 0.0;
      double value = to_float(a[Problem::transpose_a ? i * problem.lda + m : m * problem.lda + i]);
#if scales == block_scales
      value *= arguments.scale_a[m * blocks + i / 128];
#endif
      return value;
    };
    const auto load_b = [&](int across, int i) {
      if (first_n + across >= columns) return 0.0;
      const long long n = product_column(problem, first_n + across, part);
      double value = to_float(b[Problem::transpose_b ? n * problem.ldb + i : i * problem.ldb + n]);
#if scales == block_scales
      value *= arguments.scale_b[n / 128 * blocks + i / 128];
#endif
      return value;
    };
    double_sums<!Problem::transpose_a, Problem::transpose_b>(problem.k, products[part], load_a, load_b);
  }

  for (int i = 0; i < sums_side; ++i) {
    for (int j = 0; j < sums_side; ++j) {
      const int m = first_m + sums_row(i), n = first_n + sums_column(j);
      if (m >= problem.m || n >= columns) continue;
      double sums[parts];
      for (int part = 0; part < parts; ++part) sums[part] = products[part][i][j];
      store_element(arguments, problem, batch, m, n, sums, d);
    }
  }
}
