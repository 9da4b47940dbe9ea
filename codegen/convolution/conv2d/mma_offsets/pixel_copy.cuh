#pragma once
#if turned
#  include "convolution/conv2d_input/taps.cuh"
#else
#  include "convolution/conv2d/taps.cuh"
#endif
#include "cuda/async_copy.cuh"
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "matmul/gemm/mma_sync/shared_tiles.cuh"

// Copies the tiles of A, whose rows are gathered from X, one after the other along k. A vector is a part of
// the channels of one tap; what lies outside of the image becomes zeros.
class CopyA {
  static constexpr int vector = Schedule::vector_a;
  static constexpr int vector_bytes = vector * sizeof(Element);
  static constexpr int row_vectors = Schedule::block_k / vector;
  static constexpr int rows_at_once = threads / row_vectors;
  static constexpr int rounds = (Schedule::block_m + rows_at_once - 1) / rows_at_once;
  static constexpr bool whole_rounds = Schedule::block_m % rows_at_once == 0;
  static constexpr bool asynchronous = vector_bytes >= 4;  // what cp.async copies at least

 public:
  // The first tile has the pixels from `m` on, and their terms from `k` on.
  __device__ __forceinline__ CopyA(const Element* x, const Problem& problem, int m, int k)
      : x_(x), problem_(problem), tap_(problem, k + column()) {
#pragma unroll
    for (int round = 0; round < rounds; ++round)
      pixels_[round] = locate_pixel(problem, m + row() + round * rows_at_once);
  }

  // Begins to copy the next tile.
  __device__ __forceinline__ void begin(unsigned char* tile) {
    const Element* first = x_ + tap_.offset(problem_);
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      if (is_last(round)) break;
      const bool seen = pixels_[round].sees(problem_, tap_);
      const Element* source = first + pixels_[round].offset;
      if constexpr (asynchronous) {
        async_copy_guarded<vector_bytes>(tile + offset(round), source, seen ? vector_bytes : 0);
      } else {
        loaded_[round] = seen ? load_global<1, false>(source).elements[0] : Element{};
      }
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
    return !whole_rounds && row() + round * rows_at_once >= Schedule::block_m;
  }
  static __device__ __forceinline__ int offset(int round) {
    return TileA::offset(row() + round * rows_at_once, column() * static_cast<int>(sizeof(Element)));
  }

  const Element* x_;
  const Problem& problem_;
  Tap tap_;
  Pixel pixels_[rounds];
  Element loaded_[asynchronous ? 1 : rounds];
};
