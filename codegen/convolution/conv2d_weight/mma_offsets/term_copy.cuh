#pragma once
#include "convolution/conv2d_weight/seen_pixel.cuh"
#include "cuda/async_copy.cuh"
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "matmul/gemm/mma_sync/tile_copy.cuh"

using CopyA = TileCopy<TileA, Problem::edge_m, false>;

// Copies the tiles of B, whose rows are gathered from X, one after the other along k. A vector is a part of
// the channels that a tap sees; what lies outside of the image becomes zeros.
class CopyB {
  static constexpr int vector = Schedule::vector_b;
  static constexpr int vector_bytes = vector * sizeof(Element);
  static constexpr int row_vectors = Schedule::block_n / vector;
  static constexpr int rows_at_once = threads / row_vectors;
  static constexpr int rounds = (Schedule::block_k + rows_at_once - 1) / rows_at_once;
  static constexpr bool whole_rounds = Schedule::block_k % rows_at_once == 0;
  static constexpr bool asynchronous = vector_bytes >= 4;  // what cp.async copies at least

 public:
  // The first tile has the terms from `n` on, of the pixels from `k` on.
  __device__ __forceinline__ CopyB(const Element* x, const Problem& problem, int n, int k)
      : x_(x), problem_(problem), tap_(problem, n + column()), step_(problem, Schedule::block_k) {
#pragma unroll
    for (int round = 0; round < rounds; ++round)
      pixels_[round] = SeenPixel(problem, k + row() + round * rows_at_once);
  }

  // Begins to copy the next tile.
  __device__ __forceinline__ void begin(unsigned char* tile) {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      if (is_last(round)) break;
      const bool seen = pixels_[round].sees(problem_, tap_);
      const Element* source = x_ + pixels_[round].offset(problem_, tap_);
      if constexpr (asynchronous) {
        async_copy_guarded<vector_bytes>(tile + offset(round), source, seen ? vector_bytes : 0);
      } else {
        loaded_[round] = seen ? load_global<1, false>(source).elements[0] : Element{};
      }
      pixels_[round].advance(problem_, step_);
    }
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

  const Element* x_;
  const Problem& problem_;
  Tap tap_;
  SeenPixel pixels_[rounds], step_;
  Element loaded_[asynchronous ? 1 : rounds];
};
