#pragma once
#include "cuda/named_barrier.cuh"
#include "cuda/vector.cuh"
#include "matmul/gemm/wgmma_stages.cuh"
// `is_last_block` of cuda/tickets.cuh for the consumers of a block, while the producer goes on.

constexpr int threads = (1 + Schedule::consumers) * warpgroup_threads;
constexpr int tile_threads = Schedule::consumers * warpgroup_threads;
constexpr int tickets_barrier = 1 + Schedule::consumers;  // those before are the consumers' own

__device__ __forceinline__ int tile_thread() { return threadIdx.x - warpgroup_threads; }

// True in all consumers' threads of the last of `count` blocks whose consumers call it.
__device__ __forceinline__ bool is_last_block(int* counter, int count) {
  int& is_last = Stages::barriers().is_last;
  named_barrier(tickets_barrier, tile_threads);
  if (tile_thread() == 0) {
    __threadfence();
    is_last = atomicAdd(counter, 1) == count - 1;
    if (is_last) *counter = 0;
    __threadfence();
  }
  named_barrier(tickets_barrier, tile_threads);
  return is_last;
}
