#pragma once
#include "cuda/cluster_writes.cuh"
// Blocks that share boxes. What includes it defines how many `blocks` a cluster has.

__device__ __forceinline__ int rank_of_block() { return static_cast<int>(blockIdx.x) % blocks; }

__device__ __forceinline__ void barrier_of_blocks() {
  if constexpr (blocks > 1) {
    cluster_barrier();
  } else {
    __syncthreads();
  }
}

// Where a block of the cluster has the same.
template <typename T>
__device__ __forceinline__ T* of_block(T* shared, int rank) {
  if constexpr (blocks > 1) {
    return shared_of_rank(shared, rank);
  } else {
    return shared;
  }
}
