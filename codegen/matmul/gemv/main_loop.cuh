#pragma once
#include "cuda/async_copy.cuh"
#if spread_x
#  include "matmul/gemv/tensor_codes.cuh"
#elif kernel == tensor_core
#  include "matmul/gemv/tensor_rows.cuh"
#elif weights != plain
#  include "matmul/gemv/quantised_rows.cuh"
#elif order == nk
#  include "matmul/gemv/rows.cuh"
#else
#  include "matmul/gemv/columns.cuh"
#endif
// The loop over the tiles of W that a block takes along k, `step` apart.

#if stages == 1
// A tile on its way to registers: all of its loads are in flight at once, and others only in other warps.
template <bool guarded>
__device__ __forceinline__ void add_tile(ThreadSums& sums, int first_k, int inside) {
  Vector vectors[loads][strips];
#  pragma unroll
  for (int load = 0; load < loads; ++load) {
#  pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
      vectors[load][strip] = load_weights(sums.source<guarded>(load, strip, first_k, inside));
    }
  }
  sums.multiply<guarded>(first_k, inside,
                         [&](int load, int strip) -> const Vector& { return vectors[load][strip]; });
}

__device__ __forceinline__ void add_tiles(ThreadSums& sums, int first_k, int step, int k, unsigned char*) {
  for (; first_k + block_k <= k; first_k += step) add_tile<false>(sums, first_k, block_k);
#  if edge_k
  if (first_k < k) add_tile<true>(sums, first_k, k - first_k);
#  endif
}
#else
// Tiles on their way to shared memory, `stages` at a time. Each thread reads nothing but what it copied, so
// no barrier is needed.
class Stages {
 public:
  explicit __device__ __forceinline__ Stages(unsigned char* shared)
      : vectors_(reinterpret_cast<Vector*>(shared) + threadIdx.x) {}

  template <bool guarded>
  __device__ __forceinline__ void copy(const ThreadSums& sums, int stage, int first_k, int inside) {
#  pragma unroll
    for (int load = 0; load < loads; ++load) {
#  pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
        const Source source = sums.source<guarded>(load, strip, first_k, inside);
        Vector* target = slot(stage, load, strip);
        if (source.inside >= width) {
          async_copy<sizeof(Vector)>(target, source.elements);
        } else {
          target->bits = load_weights(source).bits;
        }
      }
    }
  }

  template <bool guarded>
  __device__ __forceinline__ void multiply(ThreadSums& sums, int stage, int first_k, int inside) {
    sums.multiply<guarded>(first_k, inside, [&](int load, int strip) {
      Vector vector;
      vector.bits = slot(stage, load, strip)->bits;
      return vector;
    });
  }

 private:
  __device__ __forceinline__ Vector* slot(int stage, int load, int strip) const {
    return vectors_ + ((stage * loads + load) * strips + strip) * Schedule::threads;
  }

  Vector* vectors_;
};

// Copies the tile from `first_k` on, if there is one; without, too, a group of copies is closed.
__device__ __forceinline__ void copy_tile(Stages& tiles, const ThreadSums& sums, int stage, int first_k,
                                          int k) {
  if (first_k + block_k <= k) tiles.copy<false>(sums, stage, first_k, block_k);
#  if edge_k
  if (first_k < k && k < first_k + block_k) tiles.copy<true>(sums, stage, first_k, k - first_k);
#  endif
  async_commit();
}

__device__ __forceinline__ void add_tiles(ThreadSums& sums, int first_k, int step, int k,
                                          unsigned char* shared) {
  Stages tiles(shared);
  int next = first_k;
#  pragma unroll
  for (int stage = 0; stage < Schedule::stages; ++stage, next += step) {
    copy_tile(tiles, sums, stage, next, k);
  }
#  if group_size > 0
  if (first_k < k) sums.load_groups(first_k);
#  endif
  for (int stage = 0; first_k < k; first_k += step, next += step) {
#  if group_size > 0
    sums.advance_groups(first_k + step, k);
#  endif
    async_wait<Schedule::stages - 1>();
#  if edge_k
    if (first_k + block_k > k) {
      tiles.multiply<true>(sums, stage, first_k, k - first_k);
      break;  // the last tile
    }
#  endif
    tiles.multiply<false>(sums, stage, first_k, block_k);
    copy_tile(tiles, sums, stage, next, k);
    stage = stage + 1 < Schedule::stages ? stage + 1 : 0;
  }
}
#endif
