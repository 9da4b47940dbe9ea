#pragma once
#include "attention/attention/naive.cuh"
// O = softmax(scale·Q·Kᵀ)·V with all scores in memory: one launch computes them, a thread for each; another
// has a block for each row, which reads them twice.

// Those of a row, (batch, place, head) in row-major order.
__device__ __forceinline__ float* scores_of(const Arguments& arguments, const Problem& problem,
                                            long long row) {
  return static_cast<float*>(arguments.workspace) + row * problem.keys;
}

template <int threads>
__device__ __forceinline__ void store_scores(const Arguments& arguments) {
  const Problem problem(arguments);
  const RowPlace row(arguments, problem, blockIdx.x);
  for (int key = row.first + static_cast<int>(threadIdx.x); key < row.end; key += threads)
    scores_of(arguments, problem, blockIdx.x)[key] = score_with<float>(
        arguments, problem, row.batch, row.place, row.name, row.head, key, row.k + key * problem.stride_k_t);
}

template <int threads>
__device__ __forceinline__ void attend_stored(const Arguments& arguments) {
  const Problem problem(arguments);
  const RowPlace row(arguments, problem, blockIdx.x);
  const float* scores = scores_of(arguments, problem, blockIdx.x);
  attend_scores<threads>(
      arguments, problem, row.batch, row.place, row.name, row.head, row.first, row.end,
      [&](int key) { return scores[key]; }, [&](int key) { return row.v + key * problem.stride_v_t; },
      dynamic_shared<float>());
}
