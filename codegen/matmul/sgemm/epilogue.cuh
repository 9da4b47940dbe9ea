#pragma once
#include "cuda/opaque.cuh"
#include "cuda/vector.cuh"
#include "matmul/sgemm/multiply.cuh"
#include "matmul/sgemm/work.cuh"
// A thread's tile on its way out: in vectors, a batch of them at a time, which the warps and the blocks that
// share it along k divide among them.

// Of `most` vectors or fewer: the largest batch of which each taker has whole ones; else one vector.
__device__ constexpr int largest_batch(int most, int vectors, int takers) {
  for (int size = most; size > 1; --size) {
    if (vectors % (size * takers) == 0) return size;
  }
  return 1;
}

struct Output {
  static constexpr int width = Schedule::vector_c;
  static constexpr int vectors = Schedule::thread_m * Schedule::thread_n / width;  // of a thread's tile
  static constexpr int takers = Schedule::cluster_k * Schedule::warps_k;
  static constexpr int batch_size = largest_batch(32 / width, vectors, takers);

  struct Batch {
    alignas(16) float words[batch_size][width];
  };

  // Row and column of the first word of a vector in the thread's tile of registers.
  static __device__ __forceinline__ constexpr Position position(int vector) {
    return {vector * width / Schedule::thread_n, vector * width % Schedule::thread_n};
  }
};

// Calls `visit` with the first vector of each batch that this thread takes out.
template <class Visit>
__device__ __forceinline__ void for_each_batch(Visit visit) {
  constexpr int step = Output::batch_size * Output::takers;
  if (lane_k() != 0) return;
  const int taker = cluster_rank() * Schedule::warps_k + warp_k();
#pragma unroll
  for (int round = 0; round < (Output::vectors + step - 1) / step; ++round) {
    const int first = round * step + taker * Output::batch_size;
    if (Output::vectors % step == 0 || first < Output::vectors) visit(first);
  }
}

template <int width>
__device__ __forceinline__ void store_to_c(float* c, const float* scaled, float beta) {
  alignas(16) float words[width];
  if (!Problem::beta_nonzero || beta == 0.0f) {  // C is not read: it may hold NaN
#pragma unroll
    for (int word = 0; word < width; ++word) words[word] = scaled[word];
  } else {
    copy_vector<width>(words, c);
#pragma unroll
    for (int word = 0; word < width; ++word) words[word] = fmaf(beta, words[word], scaled[word]);
  }
  copy_vector<width>(c, words);
}

// The words of C that a thread may write, counted from the first word of its tile: those from `begin` on that
// are before `end`.
struct Range {
  int begin;
  int end;
};
struct Window {
  Range m;
  Range n;
};

// C = scaled + beta·C for all that this thread takes out; `load` sets a batch to the vectors from an index
// on. `c` points at the first word of the thread's tile.
template <class Load>
__device__ __forceinline__ void store_tile(float* c, Problem::Index leading, const Window& window, float beta,
                                           Load load) {
  constexpr int width = Output::width;
  for_each_batch([&](int first) {
    Output::Batch batch;
    load(batch, first);
    Problem::Index row_words = 0;
#pragma unroll
    for (int i = 0; i < Output::batch_size; ++i) {
      const Position from = Output::position(first + i);
      const int row = from.m / StripsM::width * StripsM::step + from.m % StripsM::width;
      if (i == 0 || from.n == 0) {
        row_words = row * leading;
        make_opaque(row_words);
      }
      const int column = from.n / StripsN::width * StripsN::step + from.n % StripsN::width;
      if (Problem::guard_m && row >= window.m.end) continue;
      if (Problem::slide_m && row < window.m.begin) continue;
      if (Problem::slide_n && column < window.n.begin) continue;  // vectors lie on one side of it
      float* target = c + row_words + column;
      if (!Problem::guard_n || column + width <= window.n.end) {
        store_to_c<width>(target, batch.words[i], beta);
      } else {
#pragma unroll
        for (int word = 0; word < width; ++word) {
          if (column + word < window.n.end) store_to_c<1>(target + word, &batch.words[i][word], beta);
        }
      }
    }
  });
}
