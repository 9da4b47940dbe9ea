#pragma once
#include "cuda/vector.cuh"
#include "sgemm/multiply.cuh"
// A thread's share of the block's tile on its way out: alpha·sum, in vectors, a batch of them at a time.

struct Output {
  static constexpr int width = Schedule::vector_c;
  static constexpr int vectors = Schedule::thread_m * Schedule::thread_n / width;  // of a thread

  template <int size>
  struct Batch {
    static_assert(vectors % size == 0, "batches are full");
    alignas(16) float words[size][width];
  };

  // Row and column of the first word of a vector in the thread's tile of registers.
  static __device__ __forceinline__ constexpr Position position(int vector) {
    return {vector * width / Schedule::thread_n, vector * width % Schedule::thread_n};
  }
};

// The vectors of alpha·sum from `first` on.
//
// A vector on its way to memory occupies aligned registers. In a grid of its own size ptxas would keep the
// sums themselves in such registers, in the same banks as the fragments of B: 51 % of all FFMAs then read two
// operands of one bank, and registers are spilled. The addition makes new values, which leaves 6 %.
template <int size>
__device__ __forceinline__ void scale(Output::Batch<size>& batch, const Accumulators& sum, int first,
                                      float alpha) {
#pragma unroll
  for (int i = 0; i < size; ++i) {
    const Position from = Output::position(first + i);
#pragma unroll
    for (int word = 0; word < Output::width; ++word) {
      const float value = sum.c[from.m][from.n + word];
      batch.words[i][word] = Schedule::grid_blocks > 0 ? __fmul_rn(alpha, value) + 0.0f : alpha * value;
    }
  }
}

template <int width>
__device__ __forceinline__ void store_to_c(float* c, const float* scaled, float beta) {
  alignas(16) float words[width];
  if (beta == 0.0f) {  // C is not read: it may hold NaN
#pragma unroll
    for (int word = 0; word < width; ++word) words[word] = scaled[word];
  } else {
    copy_vector<width>(words, c);
#pragma unroll
    for (int word = 0; word < width; ++word) words[word] = fmaf(beta, words[word], scaled[word]);
  }
  copy_vector<width>(c, words);
}

// C = scaled + beta·C for all of a thread's vectors; `load` sets a batch to the vectors from an index on.
// `c` points at the thread's first word; m_left and n_left count the rows and columns from there to the
// edges.
template <int size, class Load>
__device__ __forceinline__ void store_tile(float* c, Problem::Index leading, int m_left, int n_left,
                                           float beta, Load load) {
  constexpr int width = Output::width;
#pragma unroll
  for (int first = 0; first < Output::vectors; first += size) {
    Output::Batch<size> batch;
    load(batch, first);
#pragma unroll
    for (int i = 0; i < size; ++i) {
      const Position from = Output::position(first + i);
      const int row = from.m / StripsM::width * StripsM::step + from.m % StripsM::width;
      const int column = from.n / StripsN::width * StripsN::step + from.n % StripsN::width;
      if (Problem::guard_m && row >= m_left) continue;
      float* target = c + row * leading + column;
      if (!Problem::guard_n || column + width <= n_left) {
        store_to_c<width>(target, batch.words[i], beta);
      } else {
#pragma unroll
        for (int word = 0; word < width; ++word) {
          if (column + word < n_left) store_to_c<1>(target + word, &batch.words[i][word], beta);
        }
      }
    }
  }
}
