#pragma once
#include "cuda/cluster_writes.cuh"
#include "cuda/shared_memory.cuh"
#include "sorting/radix_sort/ranks.cuh"
// A row sorted by the blocks of a cluster, each of which has a tile of it. By each digit, a block sorts its
// tile, and keys go to the shared memory of the block that has their place, those of a digit side by side.

#if has_values
using Result = Problem::Result;
#endif

struct Shared {
  unsigned counts[warps * bins];
  unsigned sums[32];
  unsigned sizes[bins];    // keys of the tile by digit, which all blocks read
  unsigned offsets[bins];  // from a place in the tile to that in the row, by digit
  Bits sorted[tile_keys];  // by the digit
  Bits keys[tile_keys];    // of the next tile
#if has_values
  unsigned sorted_columns[tile_keys];  // where keys were in the row
  unsigned columns[tile_keys];
#endif
};

// The place in the row of the tile's first key with each digit, by what all blocks have counted.
__device__ __forceinline__ unsigned first_place(Shared& shared, int rank) {
  unsigned before = 0, all = 0;
  if (threadIdx.x < bins) {
#pragma unroll
    for (int other = 0; other < Schedule::cluster; ++other) {
      const unsigned theirs = *shared_of_rank(shared.sizes + threadIdx.x, other);
      all += theirs;
      if (other < rank) before += theirs;
    }
  }
  return sum_before(all, shared.sums) + before;
}

__device__ __forceinline__ void sort_row(const Arguments& arguments) {
  const Problem problem(arguments);
  Shared& shared = *dynamic_shared<Shared>();
  const int thread = threadIdx.x, first = first_key(), rank = blockIdx.x % Schedule::cluster;
  const int begin = rank * tile_keys, count = static_cast<int>(problem.columns) - begin;
  const long long row = blockIdx.x / Schedule::cluster * problem.columns + begin;
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
    columns[i] = begin + column;
#endif
  }
#pragma unroll 1
  for (int shift = Problem::begin_bit; shift < Problem::end_bit; shift += Problem::digit_bits) {
    unsigned places[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      // What lacks in the row is last, and stays so.
      places[i] = first + i * 32 < count ? digit_of(ordered(keys[i]), shift) : bins - 1;
    }
    count_digits(counts, places);
    __syncthreads();
    const unsigned size = thread < bins ? count_of(shared.counts, thread) : 0;
    if (thread < bins) shared.sizes[thread] = size;
    const unsigned place = sum_before(size, shared.sums);
    cluster_barrier();
    const unsigned place_in_row = first_place(shared, rank);
    if (thread < bins) {
      place_warps(shared.counts, thread, place);
      shared.offsets[thread] = place_in_row - place;
    }
    __syncthreads();
    rank_keys(counts, places);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      shared.sorted[places[i]] = keys[i];
#if has_values
      shared.sorted_columns[places[i]] = columns[i];
#endif
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int own = i * Schedule::threads + thread;
      const Bits key = shared.sorted[own];
      const unsigned digit = own < count ? digit_of(ordered(key), shift) : bins - 1;
      const unsigned target = shared.offsets[digit] + own, owner = target / tile_keys,
                     slot = target % tile_keys;
      *shared_of_rank(shared.keys + slot, owner) = key;
#if has_values
      *shared_of_rank(shared.columns + slot, owner) = shared.sorted_columns[own];
#endif
    }
    cluster_barrier();
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
  const Result* values = reinterpret_cast<const Result*>(arguments.values) + (row - begin);
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
