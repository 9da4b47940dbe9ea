#pragma once
#include "matmul/gemv/main_loop.cuh"
// The part of x that meets a tile of W, in shared memory behind the tiles of W: copied once for all threads
// of a block.

class SharedX {
 public:
  static constexpr int tile_elements = Problem::m * Problem::x_pitch;

  __device__ __forceinline__ SharedX(const Element* x, long long ldx, unsigned char* shared)
      : x_(x),
        ldx_(ldx),
        tiles_(reinterpret_cast<Element*>(shared + Schedule::stages * loads * strips * Schedule::threads *
                                                       sizeof(Vector))) {}

  // Copies what meets the tile from column `first_k` of W on, of `k` columns.
  __device__ __forceinline__ void copy(int stage, int first_k, int k) const {
    constexpr int width_x = Problem::width_x;
    constexpr int of_vector = block_k / width_x, count = Problem::m * of_vector;
    Element* tile = tiles_ + stage * tile_elements;
#pragma unroll
    for (int first = 0; first < count; first += Schedule::threads) {
      const int index = first + static_cast<int>(threadIdx.x);
      const int vector = index / of_vector, column = index % of_vector * width_x;
      const int inside = index < count ? k - first_k - column : 0;
      const Element* source = x_ + vector * ldx_ + first_k + column;
      Element* target = tile + vector * Problem::x_pitch + column;
      if (inside >= width_x) {
        async_copy<width_x * sizeof(Element)>(target, source);
      } else {
#if edge_k
#  pragma unroll
        for (int i = 0; i < width_x; ++i) {
          if (i < inside) target[i] = source[i];
        }
#endif
      }
    }
  }

  // The tile of a stage, as if it began at column 0.
  __device__ __forceinline__ const Element* tile(int stage, int first_k) const {
    return tiles_ + stage * tile_elements - first_k;
  }

 private:
  const Element* x_;
  long long ldx_;
  Element* tiles_;
};

// The loop over the tiles of W, with the x that they meet.
__device__ __forceinline__ void add_tiles_with_x(ThreadSums& sums, const SharedX& x, int first_k, int step,
                                                 int k, unsigned char* shared) {
  constexpr int ahead = Schedule::stages - 1;
  Stages tiles(shared);
  int next = first_k;
#pragma unroll
  for (int stage = 0; stage < ahead; ++stage, next += step) {
    x.copy(stage, next, k);
    copy_tile(tiles, sums, stage, next, k);
  }
#if group_size > 0
  if (first_k < k) sums.load_groups(first_k);
#endif
  for (int stage = 0; first_k < k; first_k += step, next += step) {
#if group_size > 0
    sums.advance_groups(first_k + step, k);
#endif
    async_wait<ahead - 1>();
    __syncthreads();  // this tile's x is there, and nobody reads that of the tile before any more
    const int before = stage == 0 ? ahead : stage - 1;
    x.copy(before, next, k);
    copy_tile(tiles, sums, before, next, k);
    sums.read_x(x.tile(stage, first_k));
#if edge_k
    if (first_k + block_k > k) {
      tiles.multiply<true>(sums, stage, first_k, k - first_k);
      break;  // the last tile
    }
#endif
    tiles.multiply<false>(sums, stage, first_k, block_k);
    stage = stage < ahead ? stage + 1 : 0;
  }
}
