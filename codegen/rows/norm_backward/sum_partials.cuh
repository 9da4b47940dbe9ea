#pragma once
#include "cuda/numbers.cuh"
#include "cuda/shared_memory.cuh"
#include "rows/row.cuh"
// The gradients of weights and biases, from what each block left in the workspace: a block of threads for
// `sum_columns` columns of them. Sums are in a fixed order, whoever wrote them first.

constexpr int sum_columns = 8;  // a sector of each row of sums
constexpr int sum_lanes = 32;   // threads of a column, which take its rows in turn
constexpr int sum_loads = 16;   // loads of a thread in flight

__device__ __forceinline__ void sum_partials(const Arguments& arguments) {
  const Problem problem(arguments);
  const int columns = problem.columns;
  const long long groups = (problem.rows + rows_per_block - 1) / rows_per_block;
  const int blocks = max(1, static_cast<int>(min(groups, static_cast<long long>(Schedule::grid_blocks))));
  const int strips = (columns + sum_columns - 1) / sum_columns;
  const int column = blockIdx.x % strips * sum_columns + threadIdx.x % sum_columns;
  const int lane = threadIdx.x / sum_columns;
  const bool exists = column < columns;
  const float* partials = static_cast<const float*>(arguments.workspace);
#if weighted && biased
  const bool is_bias = blockIdx.x >= strips;
  if (is_bias) partials += static_cast<long long>(blocks) * columns;
#endif
  float sum = 0.0f;
  for (int begin = lane; begin < blocks; begin += sum_lanes * sum_loads) {
    float terms[sum_loads];
#pragma unroll
    for (int i = 0; i < sum_loads; ++i) {
      const int row = begin + i * sum_lanes;
      terms[i] = exists && row < blocks ? partials[static_cast<long long>(row) * columns + column] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < sum_loads; ++i) sum += terms[i];
  }
  // The lanes of each warp, and then the warps.
#pragma unroll
  for (int step = sum_columns; step < 32; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  float* sums = dynamic_shared<float>();
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 < sum_columns) sums[warp * sum_columns + threadIdx.x % 32] = sum;
  __syncthreads();
  if (lane > 0 || !exists) return;
#pragma unroll
  for (int i = 1; i < sum_lanes * sum_columns / 32; ++i) sum += sums[i * sum_columns + threadIdx.x];
  const auto result = from_float<Problem::Weight>(sum);
#if weighted && biased
  (is_bias ? arguments.db : arguments.dw)[column] = result;
#elif weighted
  arguments.dw[column] = result;
#else
  arguments.db[column] = result;
#endif
}
