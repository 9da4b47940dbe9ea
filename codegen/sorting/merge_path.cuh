#pragma once
#include "sorting/keys.cuh"
// Where two sorted runs are divided, so that the first parts of both are the first keys of the merged run
// (Green, McColl and Bader, GPU Merge Path, 2012). Keys of `a` precede equal keys of `b`. If the runs are not
// sorted, places are within them all the same.

// Whether key i of `a` is behind key j of `b`.
__device__ __forceinline__ bool is_behind(const Bits* a, long long i, const Bits* b, long long j) {
  return ordered(b[j]) < ordered(a[i]);
}

// How many keys of `a` are among the first `count` keys of both.
template <typename Index>
__device__ __forceinline__ Index keys_of_first(const Bits* a, Index a_count, const Bits* b, Index b_count,
                                               Index count) {
  Index low = count > b_count ? count - b_count : 0, high = count < a_count ? count : a_count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (is_behind(a, middle, b, count - 1 - middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The same by the lanes of a warp, which look at 32 places at once.
__device__ __forceinline__ long long keys_of_first_by_warp(const Bits* a, long long a_count, const Bits* b,
                                                           long long b_count, long long count) {
  const int lane = threadIdx.x % 32;
  long long low = count > b_count ? count - b_count : 0, high = count < a_count ? count : a_count;
  while (low < high) {
    const long long step = (high - low + 32) / 33, at = low + (lane + 1) * step - 1;
    const bool behind = at >= high || is_behind(a, at, b, count - 1 - at);
    const unsigned found = __ballot_sync(0xffffffffu, behind);
    const int before = found == 0 ? 32 : __ffs(static_cast<int>(found)) - 1;  // lanes whose key is ahead
    const long long next = low + (before + 1) * step - 1;
    low += before * step;
    if (before < 32 && next < high) high = next;
  }
  return low;
}

// How many keys of the other run are ahead of a key; `of_a`: it is one of `a`, and the other run is `b`.
__device__ __forceinline__ long long keys_ahead(const Bits* keys, long long own, const Bits* other,
                                                long long count, bool of_a) {
  long long low = 0, high = count;
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    const bool ahead = of_a ? is_behind(keys, own, other, middle) : !is_behind(other, middle, keys, own);
    if (ahead) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
