#pragma once
#include "cuda/shared_memory.cuh"
#include "sorting/radix_sort/ranks.cuh"
// A row that is a tile, sorted by one block: after each digit its keys change threads by shared memory.

#if has_values
using Result = Problem::Result;
#endif

struct Shared {
  unsigned counts[warps * bins];
  unsigned sums[32];
  Bits keys[tile_keys];
#if has_values
  unsigned short columns[tile_keys];  // where keys were in the row
#endif
};

__device__ __forceinline__ void sort_row(const Arguments& arguments) {
  const Problem problem(arguments);
  Shared& shared = *dynamic_shared<Shared>();
  const int thread = threadIdx.x, count = static_cast<int>(problem.columns), first = first_key();
  const long long row = blockIdx.x * problem.columns;
  const Bits* source = reinterpret_cast<const Bits*>(arguments.keys) + row;
  unsigned* counts = shared.counts + thread / 32 * bins;
  Bits keys[items];
#if has_values
  unsigned columns[items];
#endif
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int column = first + i * 32;
    keys[i] = column < count ? source[column] : 0;
#if has_values
    columns[i] = column;
#endif
  }
#pragma unroll 1
  for (int shift = Problem::begin_bit; shift < Problem::end_bit; shift += Problem::digit_bits) {
    unsigned places[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      // What lacks in the tile is last, and stays so.
      places[i] = first + i * 32 < count ? digit_of(ordered(keys[i]), shift) : bins - 1;
    }
    count_digits(counts, places);
    __syncthreads();
    const unsigned of_digit = thread < bins ? count_of(shared.counts, thread) : 0;
    const unsigned before = sum_before(of_digit, shared.sums);
    if (thread < bins) place_warps(shared.counts, thread, before);
    __syncthreads();
    rank_keys(counts, places);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      shared.keys[places[i]] = keys[i];
#if has_values
      shared.columns[places[i]] = static_cast<unsigned short>(columns[i]);
#endif
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i) {
      keys[i] = shared.keys[first + i * 32];
#if has_values
      columns[i] = shared.columns[first + i * 32];
#endif
    }
  }
#if writes_keys
  Bits* target = reinterpret_cast<Bits*>(arguments.keys_out) + row;
#endif
#if has_values
  Result* values_out = reinterpret_cast<Result*>(arguments.values_out) + row;
#  if !indices
  const Result* values = reinterpret_cast<const Result*>(arguments.values) + row;
#  endif
#endif
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int column = first + i * 32;
    if (column >= count) break;
#if writes_keys
    target[column] = keys[i];
#endif
#if indices
    values_out[column] = static_cast<Result>(columns[i]);
#elif has_values
    values_out[column] = values[columns[i]];
#endif
  }
}
