#pragma once
#include "cuda/math.cuh"
#include "selection/order.cuh"

// A result of a row; of no element it is what all others come before, and the index -1.
__device__ __forceinline__ void store_result(const Arguments& arguments, const Problem& problem,
                                             long long row, int place, Entry entry) {
#if largest
  const Element last = from_float<Element>(-infinity());
#else
  const Element last = from_float<Element>(infinity());
#endif
  arguments.values[row * problem.ldv + place] =
      entry ? arguments.x[row * problem.ldx + column_of(entry)] : last;
  arguments.indices[row * problem.ldi + place] = entry ? column_of(entry) : -1;
}

#if order == index
// What results are ordered by, the larger first.
__device__ __forceinline__ Entry result_order(Entry entry) { return static_cast<unsigned>(entry); }
#else
// What results are ordered by, the larger first.
__device__ __forceinline__ Entry result_order(Entry entry) { return entry; }
#endif

// How many of the entries are ordered before one.
__device__ __forceinline__ int place_among(const Entry* entries, int count, Entry entry) {
  int place = 0;
#pragma unroll 4
  for (int i = 0; i < count; ++i) place += entries[i] > entry;
  return place;
}
