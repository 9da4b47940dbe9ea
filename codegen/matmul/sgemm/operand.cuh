#pragma once
#include "cuda/vector.cuh"
#include "matmul/sgemm/layout.cuh"
// What A and B are to those that move them.

// `along_k` if neighbours along k are neighbours in global memory, which makes a copy transpose;
// `guard_extent` if a tile may stick out of the matrix across k, where it is filled with zeros.
template <class Layout_, class Strips_, bool along_k_, int vector_, CopyMode mode, bool guard_extent_>
struct Operand {
  using Layout = Layout_;
  using Strips = Strips_;
  static constexpr bool along_k = along_k_;
  static constexpr int vector = vector_;
  static constexpr bool asynchronous = mode == CopyMode::async_copy;
  static constexpr bool direct = mode == CopyMode::direct;
  static constexpr bool guard_extent = guard_extent_;
  static constexpr int shared_words = direct ? 0 : Layout::words;
  static_assert(!asynchronous || !along_k || vector == 1, "an asynchronous copy transposes word by word");
};

// How far a tile along k is from the one before it, in an operand whose rows are `leading` words apart.
template <class Operand>
__device__ __forceinline__ Problem::Index tile_step(Problem::Index leading) {
  return Operand::along_k ? Problem::Index{Schedule::block_k} : Schedule::block_k * leading;
}

using OperandA =
    Operand<LayoutA, StripsM, !Problem::transpose_a, Schedule::vector_a, Schedule::copy_a, Problem::guard_m>;
using OperandB =
    Operand<LayoutB, StripsN, Problem::transpose_b, Schedule::vector_b, Schedule::copy_b, Problem::guard_n>;

// Whether tiles that a loop copies may stick out of the matrix along k: none does where the rest is copied
// first, ahead of the loop.
constexpr bool guard_k_in_loop = Problem::guard_k && !Problem::rest_first;

// Loads a vector of which `valid` words, or more, lie inside of the matrix.
template <int vector>
__device__ __forceinline__ void load_words(float (&words)[vector], const float* source, int valid) {
  if (valid >= vector) {
    load_constant_vector<vector>(words, source);
  } else {
#pragma unroll
    for (int word = 0; word < vector; ++word) words[word] = word < valid ? __ldg(source + word) : 0.0f;
  }
}
