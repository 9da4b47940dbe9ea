#pragma once
#include "cuda/shared_memory.cuh"
#include "sorting/radix_sort/ranks.cuh"
// The keys of a block in its registers, sorted by some of their digits: after each one they change threads by
// shared memory.

struct BlockMemory {
  unsigned counts[warps * bins];
  unsigned sums[32];
  Bits keys[tile_keys];
#if has_values
  unsigned short columns[tile_keys];  // where keys were
#endif
};

// Keys of a tile and, with values, where they were there; `count` keys exist.
struct BlockKeys {
  Bits keys[items];
#if has_values
  unsigned columns[items];
#endif

  __device__ __forceinline__ void load(const Bits* source, int count) {
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int column = first_key() + i * 32;
      keys[i] = column < count ? source[column] : 0;
#if has_values
      columns[i] = column;
#endif
    }
  }

  // By the digits from one bit up to another.
  __device__ __forceinline__ void sort(BlockMemory& shared, int count, int begin_bit, int end_bit) {
    const int thread = threadIdx.x, first = first_key();
    unsigned* counts = shared.counts + thread / 32 * bins;
#pragma unroll 1
    for (int shift = begin_bit; shift < end_bit; shift += Problem::digit_bits) {
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
  }
};
