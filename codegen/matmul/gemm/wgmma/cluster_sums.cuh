#pragma once
#include "cuda/cluster.cuh"
#include "cuda/named_barrier.cuh"
#include "matmul/gemm/wgmma/sums.cuh"
// Tiles whose steps along k the blocks of a cluster share. Each of them leaves its sums in shared memory, and
// the first ones add up those of all blocks for the columns of the tile that they store. The order of
// additions is that of ranks.

// Four sums of a thread, where the stages were.
struct SumVector {
  static constexpr int of_product = Schedule::block_n / 8;
  alignas(16) Problem::Sum elements[4];

  static __device__ __forceinline__ SumVector& at(int number) {
    const int thread = threadIdx.x - warpgroup_threads;
    return tile_memory<SumVector>()[number * consumer_threads + thread];
  }
};
static_assert(products_m * SumVector::of_product * consumer_threads * sizeof(SumVector) <=
                  Schedule::stages * stage_bytes,
              "sums have room where the stages were");

// Shows this block's sums to the cluster. All stages have been filled.
__device__ __forceinline__ void exchange_sums(const Accumulators& sums) {
  named_barrier(sums_barrier, consumer_threads);  // no consumer reads the stages any more
#pragma unroll
  for (int i = 0; i < products_m * SumVector::of_product; ++i) {
    const Problem::Sum* own = sums.d[i / SumVector::of_product] + i % SumVector::of_product * 4;
    SumVector::at(i) = {own[0], own[1], own[2], own[3]};
  }
  cluster_barrier();
}

// The sums of all blocks of the cluster in this block's columns.
__device__ __forceinline__ StoredSums added_up() {
  // A block's columns are so many vectors of each part of the tile.
  constexpr int of_part = SumVector::of_product / parts, stored = stored_columns / 8 / parts;
  constexpr int vectors = products_m * parts * stored,
                ranks_in_flight = vectors < 8 ? Schedule::cluster_k : 1;
  StoredSums added = {};
#pragma unroll ranks_in_flight
  for (int rank = 0; rank < Schedule::cluster_k; ++rank) {
    const SumVector* theirs = shared_of_rank(&SumVector::at(cluster_rank() * stored), rank);
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      const SumVector vector = theirs[(i / stored * of_part + i % stored) * consumer_threads];
      Problem::Sum* total = added.d[i / (parts * stored)] + i % (parts * stored) * 4;
#pragma unroll
      for (int j = 0; j < 4; ++j) total[j] += vector.elements[j];
    }
  }
  return added;
}
