#pragma once
#include "cuda/vector.cuh"
#include "sgemm/multiply.cuh"
// C = alpha·sum + beta·C for a thread's share of the block's tile.

template <int vector>
__device__ __forceinline__ void scale_and_store(float* c, const float* sum, float alpha, float beta) {
  alignas(16) float words[vector];
  if (beta == 0.0f) {  // C is not read: it may hold NaN
#pragma unroll
    for (int word = 0; word < vector; ++word) words[word] = alpha * sum[word];
  } else {
    copy_vector<vector>(words, c);
#pragma unroll
    for (int word = 0; word < vector; ++word) words[word] = fmaf(beta, words[word], alpha * sum[word]);
  }
  copy_vector<vector>(c, words);
}

// `c` points at the thread's first word; m_left and n_left count the rows and columns from there to the
// edges.
__device__ __forceinline__ void store_tile(float* c, Problem::Index leading, int m_left, int n_left,
                                           const Accumulators& sum, float alpha, float beta) {
  constexpr int vector = Schedule::vector_c;
#pragma unroll
  for (int i = 0; i < Schedule::thread_m; ++i) {
    const int row = i / StripsM::width * StripsM::step + i % StripsM::width;
    if (Problem::guard_m && row >= m_left) continue;
#pragma unroll
    for (int j = 0; j < Schedule::thread_n; j += vector) {
      const int column = j / StripsN::width * StripsN::step + j % StripsN::width;
      float* target = c + row * leading + column;
      if (!Problem::guard_n || column + vector <= n_left) {
        scale_and_store<vector>(target, &sum.c[i][j], alpha, beta);
      } else {
#pragma unroll
        for (int word = 0; word < vector; ++word) {
          if (column + word < n_left) scale_and_store<1>(target + word, &sum.c[i][j + word], alpha, beta);
        }
      }
    }
  }
}
