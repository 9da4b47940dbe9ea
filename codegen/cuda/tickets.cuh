#pragma once
#include "cuda/row_reduce.cuh"
// The last of several blocks to finish combines what all of them left in global memory, always in the order
// of the blocks, so the result does not depend on who was last.

// True in all threads of the last of `count` blocks to call it. What all threads of all of them wrote before,
// all threads of that one may read: barriers and the fences of one thread are cumulative (PTX ISA, causality
// order). The counter is 0 before and, fit for the next launch, afterwards.
__device__ __forceinline__ bool is_last_block(int* counter, int count) {
  __syncthreads();
  bool last = false;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1) == count - 1;
    if (last) *counter = 0;
    __threadfence();
  }
  return __syncthreads_or(last);
}

// Combines one value of each of `count` blocks, of which this one is number `index`. True in the last block,
// all of whose threads have the result in `value` then. `partials` has `count` values in global memory,
// `scratch` one for each warp in shared memory.
template <int threads, typename Value, class Combine>
__device__ __forceinline__ bool reduce_blocks(Value& value, Value identity, Combine combine, int index,
                                              int count, Value* partials, int* counter, Value* scratch) {
  if (threadIdx.x == 0) partials[index] = value;
  if (!is_last_block(counter, count)) return false;
  value = identity;
  for (int i = threadIdx.x; i < count; i += threads) value = combine(value, partials[i]);
  value = reduce_row<threads>(value, combine, scratch);
  return true;
}
