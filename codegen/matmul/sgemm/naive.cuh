#pragma once
// One thread computes one element of C, directly from global memory.

// With `coalesced`, neighbouring threads take neighbouring columns; without, neighbouring rows, as a first
// try often does.
template <int tile, bool coalesced>
__device__ __forceinline__ void sgemm_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const int tiles_m = (problem.m + tile - 1) / tile;
  const int tiles_n = (problem.n + tile - 1) / tile;
  const int fast = threadIdx.x % tile, slow = threadIdx.x / tile;
  const int row = blockIdx.x / tiles_n % tiles_m * tile + (coalesced ? slow : fast);
  const int column = blockIdx.x % tiles_n * tile + (coalesced ? fast : slow);
  const long long batch = blockIdx.x / tiles_n / tiles_m;
  if (row >= problem.m || column >= problem.n) return;

  const long long step_a = Problem::transpose_a ? problem.lda : 1,
                  step_b = Problem::transpose_b ? 1 : problem.ldb;
  const float* a = arguments.a + batch * problem.stride_a + row * (Problem::transpose_a ? 1ll : problem.lda);
  const float* b =
      arguments.b + batch * problem.stride_b + column * (Problem::transpose_b ? problem.ldb : 1ll);
  float sum = 0;
  const int k = arguments.alpha == 0.0f ? 0 : problem.k;
  for (int i = 0; i < k; ++i) sum += a[i * step_a] * b[i * step_b];

  float& target = arguments.c[batch * problem.stride_c + static_cast<long long>(row) * problem.ldc + column];
  const float scaled = k == 0 ? 0.0f : arguments.alpha * sum;
  target = arguments.beta == 0.0f ? scaled : scaled + arguments.beta * target;
}
