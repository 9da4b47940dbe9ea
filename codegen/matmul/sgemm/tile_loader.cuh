#pragma once
#include "matmul/sgemm/multiply.cuh"
#include "matmul/sgemm/tile_copy.cuh"

// Loads an operand by way of tiles in shared memory: Copy moves a tile there, get() reads a fragment of it.
template <class Operand, class Copy>
class TileLoader {
  using Layout = typename Operand::Layout;
  using Strips = typename Operand::Strips;

 public:
  static constexpr int shared_elements = Layout::elements;  // those of a tile

#if gathered_a
  // `column` is the thread's first element in a tile, `place` what the rounds of copies begin with.
  template <class... Place>
  explicit __device__ __forceinline__ TileLoader(int column, const Place&... place)
#  if k_major_a || k_major_b
      : copy_(place...),
        element_(Operand::k_major ? Layout::index(first_k(), column) : Layout::index(first_k(), 0) + column) {
#  else
      : copy_(place...), element_(Layout::index(first_k(), 0) + column) {
#  endif
#else
  // `origin` is the first element of the first tile, `column` the thread's first one in a tile. From the
  // origin, `extent_left` and `k_left` elements are left to the edges of the matrix.
  __device__ __forceinline__ TileLoader(const float* origin, Problem::Index leading, int extent_left,
                                        int k_left, int column)
#  if k_major_a || k_major_b
      : copy_(origin, leading, extent_left, k_left),
        element_(Operand::k_major ? Layout::index(first_k(), column) : Layout::index(first_k(), 0) + column) {
#  else
      : copy_(origin, leading, extent_left, k_left), element_(Layout::index(first_k(), 0) + column) {
#  endif
#endif
    // Else NVRTC 13.0 turns sums into ORs where bits do not overlap, and computes every address of the loop.
    make_opaque(element_);
  }

  // Copies a tile to an offset in shared memory: the share of `step` out of `steps` begins.
  template <bool guard_k>
  __device__ __forceinline__ void begin(int tile, int step, int steps) {
    copy_.template begin<guard_k>(tile, step, steps);
  }
#if copy_a != async_copy || copy_b != async_copy
  __device__ __forceinline__ void finish(int tile) { copy_.finish(tile); }
#endif
  __device__ __forceinline__ void advance(bool more) { copy_.rounds.advance(more); }
#if residue_first
  __device__ __forceinline__ void jump(int tiles) { copy_.rounds.jump(tiles); }
#endif
#if copy_a == direct || copy_b == direct

  // No part of it is loaded to registers ahead.
  __device__ __forceinline__ void begin_first() {}
  __device__ __forceinline__ void begin_next(int) {}
#endif

  // The fragment at a step along k of the tile at an offset in shared memory.
  __device__ __forceinline__ void get(float (&fragment)[Strips::extent], int tile, int step) const {
#if k_major_a || k_major_b
    if constexpr (Operand::k_major) {
      if (step % 4 == 0) load_vectors(tile, k_of(step));
#  pragma unroll
      for (int i = 0; i < Strips::extent; ++i) fragment[i] = vectors_[i][step % 4];
    } else {
      load_fragment<Layout, Strips>(fragment, dynamic_shared<float>() + tile, k_of(step), element_);
    }
#else
    load_fragment<Layout, Strips>(fragment, dynamic_shared<float>() + tile, k_of(step), element_);
#endif
  }

 private:
#if k_major_a || k_major_b
  // Reads four elements along k of each of the thread's rows.
  __device__ __forceinline__ void load_vectors(int tile, int k) const {
#  pragma unroll
    for (int i = 0; i < Strips::extent; ++i) {
      const int column = i / Strips::width * Strips::step + i % Strips::width;
      copy_vector<4>(vectors_[i], dynamic_shared<float>() + tile + element_ + Layout::index(k, column));
    }
  }

  // Of a K-major operand, what was read last.
  alignas(16) mutable float vectors_[Operand::k_major ? Strips::extent : 1][4];
#endif
  Copy copy_;
  int element_;  // the first element of a tile that this thread multiplies
};
