#pragma once
#include "convolution/conv2d/mma_offsets/pixel_copy.cuh"

// Copies the tiles of B, one after the other along k. A row has a filter under a tap: neighbouring channels.
// What lies behind the last term becomes zeros.
class CopyB {
  static constexpr int vector = Schedule::vector_b;
  static constexpr int vector_bytes = vector * sizeof(Element);
  static constexpr int row_vectors = Schedule::block_n / vector;
  static constexpr int rows_at_once = threads / row_vectors;
  static constexpr int rounds = (Schedule::block_k + rows_at_once - 1) / rows_at_once;
  static constexpr bool whole_rounds = Schedule::block_k % rows_at_once == 0;
  static constexpr bool asynchronous = vector_bytes >= 4;  // what cp.async copies at least

 public:
  // The first tile has the channels from `n` on, of the terms from `k` on.
  __device__ __forceinline__ CopyB(const Element* weight, const Problem& problem, int n, int k)
      : weight_(weight + n + column()),
        problem_(problem),
        inside_(n + column() < problem.n),
        tap_(problem, k + row()) {}

  // Begins to copy the next tile.
  __device__ __forceinline__ void begin(unsigned char* tile) {
    Tap tap = tap_;
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      if (is_last(round)) break;
      const bool seen = inside_ && tap.exists();
      const Element* source = weight_ + tap.filter(problem_);
      if constexpr (asynchronous) {
        async_copy_guarded<vector_bytes>(tile + offset(round), source, seen ? vector_bytes : 0);
      } else {
        loaded_[round] = seen ? load_global<1, false>(source).elements[0] : Element{};
      }
      tap.advance(problem_, rows_at_once);
    }
    tap_.advance(problem_, Schedule::block_k);
  }

  // Completes what begin() has left to registers.
  __device__ __forceinline__ void finish(unsigned char* tile) const {
    if constexpr (!asynchronous) {
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        if (is_last(round)) break;
        *reinterpret_cast<Element*>(tile + offset(round)) = loaded_[round];
      }
    }
  }

 private:
  // The first vector of this thread in a tile; the others are below it.
  static __device__ __forceinline__ int row() { return threadIdx.x / row_vectors; }
  static __device__ __forceinline__ int column() { return threadIdx.x % row_vectors * vector; }
  static __device__ __forceinline__ bool is_last(int round) {
    return !whole_rounds && row() + round * rows_at_once >= Schedule::block_k;
  }
  static __device__ __forceinline__ int offset(int round) {
    return TileB::offset(row() + round * rows_at_once, column() * static_cast<int>(sizeof(Element)));
  }

  const Element* weight_;
  const Problem& problem_;
  bool inside_;
  Tap tap_;
  Element loaded_[asynchronous ? 1 : rounds];
};
