#pragma once
#include "attention/attention/sequence.cuh"
// Which queries see a key.

// The first query of a sequence that sees a key, and the one behind the last; there may be none.
__device__ __forceinline__ int first_query(const Sequence& sequence, int key) {
#if bounded_right
  return max(0, key - sequence.high);
#else
  return 0;
#endif
}
__device__ __forceinline__ int queries_end(const Sequence& sequence, int key) {
#if bounded_left
  return max(0, min(sequence.queries, key - sequence.low + 1));
#else
  return sequence.queries;
#endif
}
