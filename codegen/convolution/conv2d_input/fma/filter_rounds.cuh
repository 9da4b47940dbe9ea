#pragma once
#include "convolution/conv2d/fma/pixel_rounds.cuh"

// One thread's share of the copies of B's tiles: in each round a vector, neighbouring channels of a filter
// under a tap. All its vectors have the same channels.
class FilterRounds {
  using Layout = LayoutB;
  static constexpr int vector = Schedule::vector_b;
  static constexpr int rows = Schedule::block_k;
  static constexpr int row_vectors = Schedule::block_n / vector;
  static constexpr int rows_a_round = threads / row_vectors;

 public:
  static constexpr int count = (rows + rows_a_round - 1) / rows_a_round;

  // The first tile has the channels from `n` on, of the terms from `k` on.
  __device__ __forceinline__ FilterRounds(const float* weight, const Problem& problem, int n, int k)
      : row_(threadIdx.x / row_vectors),
        column_(threadIdx.x % row_vectors * vector),
        inside_(n + column_ < problem.n),
        weight_(weight + n + column_),
        problem_(problem),
        tap_(problem, k + row_),
        target_(Layout::index(row_, column_)) {
    make_opaque(target_);
  }

  // False for threads that are left over, where rows or threads do not divide evenly.
  __device__ __forceinline__ bool has_part_in(int round) const {
    if (threads % row_vectors && row_ >= rows_a_round) return false;
    return rows % rows_a_round == 0 || row_ + round * rows_a_round < rows;
  }

  __device__ __forceinline__ const float* source(int round) const {
    return weight_ + tap(round).filter(problem_);
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

  // Elements of the round's vector that there are: all, or none.
  template <bool guard_k>
  __device__ __forceinline__ int valid(int round) const {
    return inside_ && tap(round).exists() ? vector : 0;
  }

  // Advances to the next tile along k. What is behind the last one is copied, and never multiplied.
  __device__ __forceinline__ void advance(bool) { tap_.advance(problem_, Schedule::block_k); }

 private:
  __device__ __forceinline__ Tap tap(int round) const {
    Tap found = tap_;
    found.advance(problem_, round * rows_a_round);
    return found;
  }

  int row_;     // in a tile, in the first round
  int column_;  // of the vectors' first elements in a tile
  bool inside_;
  const float* weight_;
  const Problem& problem_;
  Tap tap_;
  int target_;  // the first vector's offset in the tile in shared memory
};

#if copy_b == async_copy
using LoaderB = TileLoader<OperandB, AsyncCopy<OperandB, FilterRounds> >;
#else
using LoaderB = TileLoader<OperandB, RegisterCopy<OperandB, FilterRounds> >;
#endif
