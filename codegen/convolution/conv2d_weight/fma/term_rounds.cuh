#pragma once
#include "convolution/conv2d_weight/seen_pixel.cuh"
#include "matmul/sgemm/tile_loader.cuh"

// One thread's share of the copies of B's tiles, whose rows are gathered from X: in each round a vector, a
// part of the channels that a tap sees, for one pixel. All its vectors have the same terms.
class TermRounds {
  using Layout = LayoutB;
  static constexpr int vector = Schedule::vector_b;
  static constexpr int rows = Schedule::block_k;
  static constexpr int row_vectors = Schedule::block_n / vector;
  static constexpr int rows_a_round = threads / row_vectors;

 public:
  static constexpr int count = (rows + rows_a_round - 1) / rows_a_round;

  // The first tile has the terms from `n` on, of the pixels from `k` on.
  __device__ __forceinline__ TermRounds(const float* x, const Problem& problem, int n, int k)
      : row_(threadIdx.x / row_vectors),
        column_(threadIdx.x % row_vectors * vector),
        x_(x),
        problem_(problem),
        tap_(problem, n + column_),
        step_(problem, Schedule::block_k),
        target_(Layout::index(row_, column_)) {
    make_opaque(target_);
#pragma unroll
    for (int round = 0; round < count; ++round)
      pixels_[round] = SeenPixel(problem, k + row_ + round * rows_a_round);
  }

  // False for threads that are left over, where rows or threads do not divide evenly.
  __device__ __forceinline__ bool has_part_in(int round) const {
    if (threads % row_vectors && row_ >= rows_a_round) return false;
    return rows % rows_a_round == 0 || row_ + round * rows_a_round < rows;
  }

  __device__ __forceinline__ const float* source(int round) const {
    return x_ + pixels_[round].offset(problem_, tap_);
  }

  // Offset of this thread's first element in shared memory, for a tile at an offset.
  __device__ __forceinline__ int first(int tile) const { return tile + target_; }

  // Address in shared memory of the round's vector. It is at a constant distance from `first` if the layout
  // allows.
  __device__ __forceinline__ float* target(int tile, int first, int round) const {
    if constexpr (Layout::constant_steps(rows_a_round)) {
      return dynamic_shared<float>() + first + Layout::index(round * rows_a_round, 0);
    } else {
      return dynamic_shared<float>() + tile + Layout::index(row_ + round * rows_a_round, column_);
    }
  }

  // Elements of the round's vector inside of the image: all, or none.
  template <bool guard_k>
  __device__ __forceinline__ int valid(int round) const {
    return pixels_[round].sees(problem_, tap_) ? vector : 0;
  }

  // Advances to the next tile along k. What is behind the last one is copied, and never multiplied.
  __device__ __forceinline__ void advance(bool) {
#pragma unroll
    for (int round = 0; round < count; ++round) pixels_[round].advance(problem_, step_);
  }

 private:
  int row_;     // in a tile, in the first round
  int column_;  // of the vectors' first elements in a tile
  const float* x_;
  const Problem& problem_;
  Tap tap_;
  SeenPixel step_;
  int target_;  // the first vector's offset in the tile in shared memory
  SeenPixel pixels_[count];
};

#if copy_a == async_copy
using LoaderA = TileLoader<OperandA, AsyncCopy<OperandA> >;
#else
using LoaderA = TileLoader<OperandA, RegisterCopy<OperandA> >;
#endif
#if copy_b == async_copy
using LoaderB = TileLoader<OperandB, AsyncCopy<OperandB, TermRounds> >;
#else
using LoaderB = TileLoader<OperandB, RegisterCopy<OperandB, TermRounds> >;
#endif
