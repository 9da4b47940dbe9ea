#pragma once
#include "matmul/gemm/plain_result.cuh"
// One thread computes one element of D, directly from global memory, in `Number`, and those of Z for it.

template <int tile, typename Number, typename To>
__device__ __forceinline__ void gemm_naive(const Arguments& arguments, To* d) {
  const Problem problem(arguments);
  const int columns = problem.n / parts;  // those of D
  const int tiles_m = (problem.m - 1u) / tile + 1, tiles_n = (columns - 1u) / tile + 1;
  const int m = blockIdx.x / tiles_n % tiles_m * tile + threadIdx.x / tile;
  const int n = blockIdx.x % tiles_n * tile + threadIdx.x % tile;
  const long long batch = blockIdx.x / tiles_n / tiles_m;
  if (m >= problem.m || n >= columns) return;

  const long long step_a = Problem::transpose_a ? problem.lda : 1;
  const long long step_b = Problem::transpose_b ? 1 : problem.ldb;
  const auto* a = arguments.a + batch * problem.stride_a + m * (Problem::transpose_a ? 1ll : problem.lda);
  Number sums[parts];
  for (int part = 0; part < parts; ++part) {
    const int column = product_column(problem, n, part);
    const auto* b =
        arguments.b + batch * problem.stride_b + column * (Problem::transpose_b ? problem.ldb : 1ll);
    Number sum = 0;
    for (int i = 0; i < problem.k; ++i) {
      Number term =
          static_cast<Number>(to_float(a[i * step_a])) * static_cast<Number>(to_float(b[i * step_b]));
#if scales == block_scales
      const long long blocks = (problem.k - 1u) / 128 + 1;
      term *= arguments.scale_a[m * blocks + i / 128] *
              static_cast<Number>(arguments.scale_b[column / 128 * blocks + i / 128]);
#endif
      sum += term;
    }
    sums[part] = sum;
  }
  store_element(arguments, problem, batch, m, n, sums, d);
}
