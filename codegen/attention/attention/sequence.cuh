#pragma once
// A sequence: its queries lie from query_base on, its keys from key_base on. Query i sees the keys from
// i + low to i + high.

#if segmented
// Where each sequence begins among the keys.
__device__ __forceinline__ const int* offsets_of_keys(const Arguments& arguments) {
#  if cross
  return arguments.offsets_k;
#  else
  return arguments.offsets;
#  endif
}
#endif

struct Sequence {
  int query_base;
  int key_base;
  int queries;
  int keys;
#if scored || masked
  int number;  // as fragments have it
#endif
#if bounded_left
  int low;
#endif
#if bounded_right
  int high;
#endif

#if segmented
  // One of several that lie one behind the other.
  __device__ __forceinline__ Sequence(const Arguments& arguments, const Problem& problem, int index) {
    const int* of_keys = offsets_of_keys(arguments);
    query_base = arguments.offsets[index];
    key_base = of_keys[index];
    queries = arguments.offsets[index + 1] - query_base;
    keys = of_keys[index + 1] - key_base;
#  if scored || masked
    number = index;
#  endif
    bound(problem, Problem::top_left ? 0 : keys - queries);
  }
#else
  // All are alike, and the diagonal is part of the problem's bounds.
  __device__ __forceinline__ Sequence(const Arguments& arguments, const Problem& problem, int index)
      : query_base(0), key_base(0), queries(problem.queries), keys(problem.keys) {
#  if scored || masked
    number = index;
#  endif
    bound(problem, 0);
  }
#endif

  // The first key that a query sees, and the one behind the last; there may be none.
  __device__ __forceinline__ int first_key(int query) const {
#if bounded_left
    return max(0, query + low);
#else
    return 0;
#endif
  }
  __device__ __forceinline__ int keys_end(int query) const {
#if bounded_right
    return max(0, min(keys, query + high + 1));
#else
    return keys;
#endif
  }

 private:
  __device__ __forceinline__ void bound(const Problem& problem, int diagonal) {
#if bounded_left
    low = diagonal + problem.low;
#endif
#if bounded_right
    high = diagonal + problem.high;
#endif
  }
};
