#pragma once
#include "cuda/shared_memory.cuh"
#include "sgemm/multiply.cuh"
// Split-K: the blocks of one tile of C each sum a slice of k; the last to finish adds the slices in order, so
// the result does not depend on who was last. The workspace holds a counter per tile, then the slices' sums.

constexpr int tile_words = Schedule::block_m * Schedule::block_n;

// Adds up the slices of `tile` (one of `tiles`); true in the block that holds the total afterwards.
__device__ __forceinline__ bool reduce_slices(Accumulators& sum, void* workspace, int tile, int tiles,
                                              int slice) {
  int* counters = static_cast<int*>(workspace);
  float* slices = static_cast<float*>(workspace) + (tiles + 3) / 4 * 4;
  constexpr int words = Schedule::thread_m * Schedule::thread_n;
  const long long stride = static_cast<long long>(tiles) * tile_words;  // from a slice to the next
  float* mine = slices + static_cast<long long>(tile) * tile_words + threadIdx.x;

#pragma unroll
  for (int word = 0; word < words; ++word) {
    __stcg(mine + slice * stride + word * threads,
           sum.c[word / Schedule::thread_n][word % Schedule::thread_n]);
  }
  __threadfence();
  __syncthreads();
  int* is_last = dynamic_shared<int>();
  if (threadIdx.x == 0) *is_last = atomicAdd(counters + tile, 1) == Schedule::split_k - 1;
  __syncthreads();
  if (!*is_last) return false;
  __threadfence();
  if (threadIdx.x == 0) counters[tile] = 0;  // fit for the next launch

#pragma unroll
  for (int word = 0; word < words; ++word) {
    float total = 0.0f;
    for (int other = 0; other < Schedule::split_k; ++other) {
      total += __ldcg(mine + other * stride + word * threads);
    }
    sum.c[word / Schedule::thread_n][word % Schedule::thread_n] = total;
  }
  return true;
}
