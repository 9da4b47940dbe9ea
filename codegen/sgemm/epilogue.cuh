#pragma once
#include "cuda/vector.cuh"
#include "sgemm/multiply.cuh"
// A thread's tile on its way out: in vectors, a batch of them at a time, which the warps that share it along k
// divide among them.

struct Output {
  static constexpr int width = Schedule::vector_c;
  static constexpr int vectors = Schedule::thread_m * Schedule::thread_n / width;  // of a thread's tile
  static constexpr int takers = Schedule::warps_k;

  // The largest batch, up to `most` vectors, of which each taker has whole ones; else one vector.
  static __device__ constexpr int batch_of(int most) {
    for (int size = most; size > 1; --size) {
      if (vectors % (size * takers) == 0) return size;
    }
    return 1;
  }

  template <int size>
  struct Batch {
    alignas(16) float words[size][width];
  };

  // Row and column of the first word of a vector in the thread's tile of registers.
  static __device__ __forceinline__ constexpr Position position(int vector) {
    return {vector * width / Schedule::thread_n, vector * width % Schedule::thread_n};
  }
};

// Calls `visit` with the first vector of each batch that this thread takes out.
template <int size, class Visit>
__device__ __forceinline__ void for_each_batch(Visit visit) {
  static_assert(Output::vectors % size == 0, "batches are full");
  constexpr int step = size * Output::takers;
  if (lane_k() != 0) return;
#pragma unroll
  for (int round = 0; round < (Output::vectors + step - 1) / step; ++round) {
    const int first = round * step + warp_k() * size;
    if (Output::vectors % step == 0 || first < Output::vectors) visit(first);
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

// C = scaled + beta·C for all that this thread takes out; `load` sets a batch to the vectors from an index on.
// `c` points at the first word of the thread's tile; m_left and n_left count the rows and columns from there
// to the edges.
template <int size, class Load>
__device__ __forceinline__ void store_tile(float* c, Problem::Index leading, int m_left, int n_left,
                                           float beta, Load load) {
  constexpr int width = Output::width;
  for_each_batch<size>([&](int first) {
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
  });
}
