#pragma once
#include "sorting/keys.cuh"
// Where two sorted runs are divided, so that the first parts of both are the first keys of the merged run
// (Green, McColl and Bader, GPU Merge Path, 2012). Keys of `a` precede equal keys of `b`. If the runs are not
// sorted, places are within them all the same.

// Whether a key is ahead of another one, in the order of `ordered`. Numbers of 32 bits and fewer are compared
// themselves, in two instructions.
__device__ __forceinline__ bool is_ahead(Bits key, Bits other) {
#if floating
  if constexpr (Problem::key_bits == 32 || Problem::mantissa_bits == 7) {
    const float number = __uint_as_float(static_cast<unsigned>(key) << (32 - Problem::key_bits));
    const float against = __uint_as_float(static_cast<unsigned>(other) << (32 - Problem::key_bits));
#  if descending
    return !(number <= against) & (against == against);
#  else
    return !(number >= against) & (number == number);
#  endif
  }
#endif
  return ordered(key) < ordered(other);
}

// Whether key i of `a` is behind key j of `b`.
__device__ __forceinline__ bool is_behind(const Bits* a, long long i, const Bits* b, long long j) {
  return is_ahead(b[j], a[i]);
}

// How many keys of `a` are among the first `count` keys of both.
template <typename Index>
__device__ __forceinline__ Index keys_of_first(const Bits* a, Index a_count, const Bits* b, Index b_count,
                                               Index count) {
  Index low = count > b_count ? count - b_count : 0, high = count < a_count ? count : a_count;
  while (low < high) {
    const Index middle = low + ((high - low) >> 1);
    if (is_behind(a, middle, b, count - 1 - middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The same by each `lanes` lanes of a warp, which look at as many places at once. All lanes of the warp call
// it.
template <int lanes>
__device__ __forceinline__ long long keys_of_first_by_lanes(const Bits* a, long long a_count, const Bits* b,
                                                            long long b_count, long long count) {
  const int lane = threadIdx.x % lanes, group = threadIdx.x % 32 / lanes;
  constexpr unsigned all = lanes == 32 ? 0xffffffffu : (1u << lanes % 32) - 1;
  long long low = count > b_count ? count - b_count : 0, high = count < a_count ? count : a_count;
  while (__any_sync(0xffffffffu, low < high)) {
    const long long step = (high - low + lanes) / (lanes + 1), at = low + (lane + 1) * step - 1;
    const bool behind = low >= high || at >= high || is_behind(a, at, b, count - 1 - at);
    const unsigned found = __ballot_sync(0xffffffffu, behind) >> group * lanes & all;
    const int before = found == 0 ? lanes : __ffs(static_cast<int>(found)) - 1;  // lanes whose key is ahead
    const long long next = low + (before + 1) * step - 1;
    low += before * step;
    if (before < lanes && next < high) high = next;
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
