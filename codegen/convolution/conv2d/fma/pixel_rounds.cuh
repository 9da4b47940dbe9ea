#pragma once
#if turned
#  include "convolution/conv2d_input/taps.cuh"
#else
#  include "convolution/conv2d/taps.cuh"
#endif
#include "matmul/sgemm/tile_loader.cuh"

// One thread's share of the copies of A's tiles, whose rows are gathered from X: in each round a vector, a
// part of the channels of one tap, for one pixel. All its vectors have the same place along k.
class PixelRounds {
  using Layout = LayoutA;
  static constexpr int vector = Schedule::vector_a;
  static constexpr int rows = Schedule::block_m;
  static constexpr int row_vectors = Schedule::block_k / vector;
  static constexpr int rows_a_round = threads / row_vectors;

 public:
  static constexpr int count = (rows + rows_a_round - 1) / rows_a_round;

  // The first tile has the pixels from `m` on, and their terms from `k` on.
  __device__ __forceinline__ PixelRounds(const float* x, const Problem& problem, int m, int k)
      : row_(threadIdx.x / row_vectors),
        k_(threadIdx.x % row_vectors * vector),
        x_(x),
        problem_(problem),
        tap_(problem, k + k_),
        target_(Layout::index(k_, row_)) {
    make_opaque(target_);
#pragma unroll
    for (int round = 0; round < count; ++round)
      pixels_[round] = locate_pixel(problem, m + row_ + round * rows_a_round);
  }

  // False for threads that are left over, where rows or threads do not divide evenly.
  __device__ __forceinline__ bool has_part_in(int round) const {
    if (threads % row_vectors && row_ >= rows_a_round) return false;
    return rows % rows_a_round == 0 || row_ + round * rows_a_round < rows;
  }

  __device__ __forceinline__ const float* source(int round) const {
    return x_ + (pixels_[round].offset + tap_.offset(problem_));
  }

  // Offset of this thread's first element in shared memory, for a tile at an offset.
  __device__ __forceinline__ int first(int tile) const { return tile + target_; }

  // Address in shared memory of an element of the round's vector. It is at a constant distance from `first`
  // if the layout allows.
  __device__ __forceinline__ float* target(int tile, int first, int round, int i = 0) const {
#if k_major_a
    constexpr int aligned = rows_a_round;
#else
    constexpr int aligned = vector;
#endif
    if constexpr (Layout::constant_steps(aligned)) {
      return dynamic_shared<float>() + first + Layout::index(i, round * rows_a_round);
    } else {
      return dynamic_shared<float>() + tile + Layout::index(k_ + i, row_ + round * rows_a_round);
    }
  }

  // Elements of the round's vector inside of the image: all, or none.
  template <bool guard_k>
  __device__ __forceinline__ int valid(int round) const {
    return pixels_[round].sees(problem_, tap_) ? vector : 0;
  }

  // Advances to the next tile along k. What is behind the last one is copied, and never multiplied.
  __device__ __forceinline__ void advance(bool) { tap_.advance(problem_, Schedule::block_k); }

 private:
  int row_;  // in a tile, in the first round
  int k_;    // of the vectors' first elements in a tile
  const float* x_;
  const Problem& problem_;
  Tap tap_;
  int target_;  // the first vector's offset in the tile in shared memory
  Pixel pixels_[count];
};

#if copy_a == async_copy
using LoaderA = TileLoader<OperandA, AsyncCopy<OperandA, PixelRounds> >;
#else
using LoaderA = TileLoader<OperandA, RegisterCopy<OperandA, PixelRounds> >;
#endif
