#pragma once
#include "matmul/sgemm/multiply.cuh"
#include "matmul/sgemm/tile_copy.cuh"
// How an operand gets from global memory to a thread's fragments: here by way of tiles in shared memory.
template <class Operand, bool direct = Operand::direct>
class Supply {
  using Layout = typename Operand::Layout;
  using Strips = typename Operand::Strips;

 public:
  // `origin` is the first word of the first tile, `column` the thread's first one of the tile; `extent_left`
  // and `k_left` count the words from the origin to the edges.
  __device__ __forceinline__ Supply(const float* origin, Problem::Index leading, int extent_left, int k_left,
                                    int column)
      : copy_(origin, leading, extent_left, k_left), word_(Layout::index(first_k(), 0) + column) {
    // Else NVRTC 13.0 turns sums into ORs where bits do not overlap, and computes every address of the loop.
    make_opaque(word_);
  }

  // Copying a tile to a place in shared memory.
  template <bool guard_k>
  __device__ __forceinline__ void begin(int tile, int step, int steps) {
    copy_.template begin<guard_k>(tile, step, steps);
  }
  __device__ __forceinline__ void finish(int tile) { copy_.finish(tile); }
  __device__ __forceinline__ void advance(bool more) { copy_.advance(more); }
  __device__ __forceinline__ void jump(int tiles) { copy_.jump(tiles); }

  // Nothing of it goes to registers ahead.
  __device__ __forceinline__ void begin_first() {}
  __device__ __forceinline__ void begin_next(int) {}

  // The fragment at a step along k of the tile at a place in shared memory.
  __device__ __forceinline__ void get(float (&fragment)[Strips::extent], int tile, int step) const {
    load_fragment<Layout, Strips>(fragment, dynamic_shared<float>() + tile, k_of(step), word_);
  }

 private:
  TileCopy<Operand> copy_;
  int word_;  // of a tile, the first that this thread multiplies
};
