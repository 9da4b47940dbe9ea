#pragma once
#include "matmul/double_sums.cuh"
// The truth that other kernels are compared with on a device: in double, from the operands to C.

__device__ __forceinline__ void sgemm_reference(const Arguments& arguments, double* c) {
  const Problem problem(arguments);
  const int tiles_m = (problem.m - 1u) / sums_tile + 1, tiles_n = (problem.n - 1u) / sums_tile + 1;
  const int first_m = blockIdx.x / tiles_n % tiles_m * sums_tile;
  const int first_n = blockIdx.x % tiles_n * sums_tile;
  const long long batch = blockIdx.x / tiles_n / tiles_m;
  const float* a = arguments.a + batch * problem.stride_a;
  const float* b = arguments.b + batch * problem.stride_b;
  const auto load_a = [&](int across, int i) -> double {
    const long long row = first_m + across;
    return row >= problem.m ? 0.0f
                            : a[Problem::transpose_a ? i * 1ll * problem.lda + row : row * problem.lda + i];
  };
  const auto load_b = [&](int across, int i) -> double {
    const long long column = first_n + across;
    return column >= problem.n
               ? 0.0f
               : b[Problem::transpose_b ? column * problem.ldb + i : i * 1ll * problem.ldb + column];
  };
  const int k = arguments.alpha == 0.0f ? 0 : problem.k;
  double sums[sums_side][sums_side];
  double_sums<!Problem::transpose_a, Problem::transpose_b>(k, sums, load_a, load_b);

  for (int i = 0; i < sums_side; ++i) {
    for (int j = 0; j < sums_side; ++j) {
      const int row = first_m + sums_row(i), column = first_n + sums_column(j);
      if (row >= problem.m || column >= problem.n) continue;
      double& target = c[batch * problem.stride_c + static_cast<long long>(row) * problem.ldc + column];
      const double scaled = k == 0 ? 0.0 : arguments.alpha * sums[i][j];
      target = arguments.beta == 0.0f ? scaled : scaled + arguments.beta * target;
    }
  }
}
