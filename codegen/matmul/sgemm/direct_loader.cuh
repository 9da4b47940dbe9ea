#pragma once
#include "cuda/opaque.cuh"
#include "matmul/sgemm/operand.cuh"

// Loads an operand from global memory to the registers of the threads that multiply it, without shared
// memory. This suits an operand that few threads share, such as the large matrix of a product with few rows
// or columns. A thread holds its elements of a whole tile; those of a step are loaded for the next tile as
// soon as they have been multiplied.
template <class Operand>
class DirectLoader {
  using Strips = typename Operand::Strips;
  using Index = Problem::Index;
  static constexpr int vector = Operand::vector;

 public:
  static constexpr int shared_elements = 0;

  // `origin` is the first element of the first tile, `column` the thread's first one in a tile. From the
  // origin, `extent_left` and `k_left` elements are left to the edges of the matrix.
  __device__ __forceinline__ DirectLoader(const float* origin, Index leading, int extent_left, int k_left,
                                          int column)
      : source_(origin + (Operand::along_k ? column * leading + first_k() : first_k() * leading + column)),
        leading_(leading),
        extent_left_(extent_left - column),
        k_left_(k_left - first_k()) {}

  // Nothing is copied to shared memory.
  template <bool>
  __device__ __forceinline__ void begin(int, int, int) {}
  __device__ __forceinline__ void finish(int) {}
  __device__ __forceinline__ void advance(bool) {}

  // Loads the first tile.
  __device__ __forceinline__ void begin_first() {
#pragma unroll
    for (int step = 0; step < k_steps; ++step) load<Problem::guard_k>(step);
  }
#if residue_first
  // Makes begin_next() advance by some tiles instead of one.
  __device__ __forceinline__ void jump(int tiles) {
    source_ += static_cast<long long>(tiles - 1) * tile_step<Operand>(leading_);
  }
#endif
  // Loads the elements of `step` of the next tile; at step 0, advances to that tile.
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
    for (int i = 0; i < Strips::extent; ++i) fragment[i] = elements_[step][i];
  }

 private:
  // A vector along k is loaded as a whole with its last element.
  template <bool guard_k>
  __device__ __forceinline__ void load(int step) {
    if constexpr (!Operand::along_k) {
      load_row<guard_k>(step);
    } else if (step % vector == vector - 1) {
      load_along_k<guard_k>(step + 1 - vector);
    }
  }

  // Distance of an element of the thread's tile from its first one, across k.
  static __device__ __forceinline__ constexpr int column_of(int element) {
    return element / Strips::width * Strips::step + element % Strips::width;
  }
  __device__ __forceinline__ int columns_left(int element) const {
    return Operand::guard_extent ? extent_left_ - column_of(element) : vector;
  }
  template <bool guard_k>
  __device__ __forceinline__ int steps_left(int step) const {
    return guard_k ? k_left_ - k_of(step) : vector;
  }

  template <bool guard_k>
  __device__ __forceinline__ void load_along_k(int first) {
#pragma unroll
    for (int element = 0; element < Strips::extent; ++element) {
      alignas(16) float loaded[vector];
      const int valid = columns_left(element) > 0 ? steps_left<guard_k>(first) : 0;
      load_guarded<vector>(loaded, source_ + column_of(element) * leading_ + k_of(first), valid);
#pragma unroll
      for (int i = 0; i < vector; ++i) elements_[first + i][element] = loaded[i];
    }
  }

  template <bool guard_k>
  __device__ __forceinline__ void load_row(int step) {
#pragma unroll
    for (int element = 0; element < Strips::extent; element += vector) {
      alignas(16) float loaded[vector];
      const int valid = steps_left<guard_k>(step) > 0 ? columns_left(element) : 0;
      load_guarded<vector>(loaded, source_ + k_of(step) * leading_ + column_of(element), valid);
#pragma unroll
      for (int i = 0; i < vector; ++i) elements_[step][element + i] = loaded[i];
    }
  }

  const float* source_;
  Index leading_;
  int extent_left_;
  int k_left_;
  float elements_[k_steps][Strips::extent];
};
