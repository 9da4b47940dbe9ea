#pragma once
#include "cuda/opaque.cuh"
#include "matmul/sgemm/supply.cuh"
// The supply of an operand that goes from global memory to the registers of those who multiply it, and not by
// way of shared memory: one that few threads share, such as the large matrix of a product with few rows or
// columns.

// One thread's words of a tile, at all its steps along k. Those of a step are loaded for the next tile as
// soon as they have been multiplied.
template <class Operand>
class Supply<Operand, true> {
  using Strips = typename Operand::Strips;
  using Index = Problem::Index;
  static constexpr int vector = Operand::vector;

 public:
  // `origin` is the first word of the first tile, `column` the thread's first one of the tile; `extent_left`
  // and `k_left` count the words from the origin to the edges.
  __device__ __forceinline__ Supply(const float* origin, Index leading, int extent_left, int k_left,
                                    int column)
      : source_(origin + (Operand::along_k ? column * leading + first_k() : first_k() * leading + column)),
        leading_(leading),
        extent_left_(extent_left - column),
        k_left_(k_left - first_k()) {}

  // Nothing of it stands in shared memory.
  template <bool>
  __device__ __forceinline__ void begin(int, int, int) {}
  __device__ __forceinline__ void finish(int) {}
  __device__ __forceinline__ void advance(bool) {}

  __device__ __forceinline__ void begin_first() {
#pragma unroll
    for (int step = 0; step < k_steps; ++step) load<Problem::guard_k>(step);
  }
  // Instead of to the next tile, begin_next() turns to another one, some tiles from this one.
  __device__ __forceinline__ void jump(int tiles) {
    source_ += static_cast<long long>(tiles - 1) * tile_step<Operand>(leading_);
  }
  // The words of `step` of the next tile; at the first one, turns to that tile.
  __device__ __forceinline__ void begin_next(int step) {
    if (step == 0) {
      source_ += tile_step<Operand>(leading_);
      make_opaque(source_);
      k_left_ -= Schedule::block_k;
    }
    load<guard_k_in_loop>(step);
  }

  __device__ __forceinline__ void get(float (&fragment)[Strips::extent], int, int step) const {
#pragma unroll
    for (int word = 0; word < Strips::extent; ++word) fragment[word] = words_[step][word];
  }

 private:
  // Along k, with the last word of a vector the whole of it.
  template <bool guard_k>
  __device__ __forceinline__ void load(int step) {
    if constexpr (!Operand::along_k) {
      load_row<guard_k>(step);
    } else if (step % vector == vector - 1) {
      load_along_k<guard_k>(step + 1 - vector);
    }
  }

  // Where a word of the thread's tile lies along the operand's extent, from its first one.
  static __device__ __forceinline__ constexpr int column_of(int word) {
    return word / Strips::width * Strips::step + word % Strips::width;
  }
  __device__ __forceinline__ int columns_left(int word) const {
    return Operand::guard_extent ? extent_left_ - column_of(word) : vector;
  }
  template <bool guard_k>
  __device__ __forceinline__ int steps_left(int step) const {
    return guard_k ? k_left_ - k_of(step) : vector;
  }

  template <bool guard_k>
  __device__ __forceinline__ void load_along_k(int first) {
#pragma unroll
    for (int word = 0; word < Strips::extent; ++word) {
      alignas(16) float loaded[vector];
      const int valid = columns_left(word) > 0 ? steps_left<guard_k>(first) : 0;
      load_words<vector>(loaded, source_ + column_of(word) * leading_ + k_of(first), valid);
#pragma unroll
      for (int i = 0; i < vector; ++i) words_[first + i][word] = loaded[i];
    }
  }

  template <bool guard_k>
  __device__ __forceinline__ void load_row(int step) {
#pragma unroll
    for (int word = 0; word < Strips::extent; word += vector) {
      alignas(16) float loaded[vector];
      const int valid = steps_left<guard_k>(step) > 0 ? columns_left(word) : 0;
      load_words<vector>(loaded, source_ + k_of(step) * leading_ + column_of(word), valid);
#pragma unroll
      for (int i = 0; i < vector; ++i) words_[step][word + i] = loaded[i];
    }
  }

  const float* source_;
  Index leading_;
  int extent_left_;
  int k_left_;
  float words_[k_steps][Strips::extent];
};
