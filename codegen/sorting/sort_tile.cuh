#pragma once
#include "sorting/merge_tile.cuh"
// A tile of keys in order: each thread sorts its own in registers, and threads merge theirs in shared memory,
// then those of twice as many, until the tile is one run.

// The keys that are sorted together are all those of the tile.
struct WholeTile {
  static constexpr bool parted = false;

  // Whether no key from before goes to a place that a key of the thread has, by its number.
  __device__ __forceinline__ bool begins(int) const { return false; }

  // What of two runs, which meet at `middle`, is merged.
  __device__ __forceinline__ void clip(int, int&, int&) const {}
};

// A key that is ahead of no other one.
__device__ __forceinline__ constexpr Bits last_key() {
#if floating && descending
  return static_cast<Bits>(sign_bit | ((sign_bit - 1) >> Problem::mantissa_bits << Problem::mantissa_bits));
#elif floating
  return static_cast<Bits>(sign_bit - 1);
#elif signed_keys && descending
  return static_cast<Bits>(sign_bit);
#elif signed_keys
  return static_cast<Bits>(sign_bit - 1);
#elif descending
  return 0;
#else
  return static_cast<Bits>(all_bits);
#endif
}

// Puts the thread's keys in order, which have places from `first` on.
template <class Parts>
__device__ __forceinline__ void sort_items(const Bits* keys, int first, int count, const Parts& parts,
                                           Items& own) {
#pragma unroll
  for (int i = 0; i < items; ++i) {
    own.keys[i] = first + i < count ? keys[first + i] : last_key();
#if has_values
    own.places[i] = static_cast<unsigned short>(first + i);
#endif
  }
  // Odd-even transposition (Knuth, The Art of Computer Programming, volume 3, 5.3.4): only neighbours change
  // places, so that equal keys keep their order.
#pragma unroll
  for (int round = 0; round < items; ++round) {
#pragma unroll
    for (int i = 1 + round % 2; i < items; i += 2) {
      if (parts.begins(i) || !is_ahead(own.keys[i], own.keys[i - 1])) continue;
      const Bits key = own.keys[i];
      own.keys[i] = own.keys[i - 1];
      own.keys[i - 1] = key;
#if has_values
      const unsigned short place = own.places[i];
      own.places[i] = own.places[i - 1];
      own.places[i - 1] = place;
#endif
    }
  }
}

// All threads whose runs of `width` keys are merged wait for each other.
__device__ __forceinline__ void wait_for_pair(int width) {
  if (2 * width <= 32 * items) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

// Sorts `count` keys in shared memory, which get so many places behind theirs; `shared.places` becomes where
// they were.
template <class Parts>
__device__ __forceinline__ void sort_tile(Shared& shared, int count, const Parts& parts, int shift = 0) {
  const int first = threadIdx.x * items;
  Items own;
  sort_items(shared.keys, first, count, parts, own);
  leave_items(shared, first, own);
#pragma unroll 1
  for (int width = items; width < tile_keys; width *= 2) {
    const int pair = first / (2 * width) * (2 * width);
    int begin = pair, middle = pair + width, end = pair + 2 * width < count ? pair + 2 * width : count;
    if (middle < count) {
      parts.clip(middle, begin, end);
    } else {  // there is but one run
      middle = end = count > pair ? count : pair;
    }
    wait_for_pair(width);
    merge_items<Parts::parted>(shared.keys, begin, middle, end, first, own);
#if has_values
#  pragma unroll
    for (int i = 0; i < items; ++i) own.places[i] = shared.places[own.places[i]];
#endif
    wait_for_pair(width);
    leave_items(shared, first, own, 2 * width < tile_keys ? 0 : shift);
  }
  __syncthreads();
}

__device__ __forceinline__ void load_tile(const Bits* source, int count, Shared& shared) {
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = i * Schedule::threads + threadIdx.x;
    if (place < count) shared.keys[place] = __ldg(source + place);
  }
  __syncthreads();
}
