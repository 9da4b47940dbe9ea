#pragma once
#include "sorting/merge_tile.cuh"
// A tile of keys in order: each thread sorts its own in registers, and threads merge theirs in shared memory,
// then those of twice as many, until the tile is one run.

// The keys that are sorted together are all those of the tile.
struct WholeTile {
  // Whether no key from before goes to a place that a key of the thread has, by its number.
  __device__ __forceinline__ bool begins(int) const { return false; }

  // What of two runs, which meet at `middle`, is merged.
  __device__ __forceinline__ void clip(int middle, int& begin, int& end) const {}
};

// Puts the thread's keys in order, which have places from `first` on.
template <class Parts>
__device__ __forceinline__ void sort_items(const Bits* keys, int first, int count, const Parts& parts,
                                           unsigned short (&places)[items]) {
  Ordered numbers[items];
#pragma unroll
  for (int i = 0; i < items; ++i) {
    numbers[i] = first + i < count ? ordered(keys[first + i]) : 0;
    places[i] = static_cast<unsigned short>(first + i);
  }
  // Odd-even transposition (Knuth, The Art of Computer Programming, volume 3, 5.3.4): only neighbours change
  // places, so that equal keys keep their order.
#pragma unroll
  for (int round = 0; round < items; ++round) {
#pragma unroll
    for (int i = 1 + round % 2; i < items; i += 2) {
      if (first + i >= count || parts.begins(i) || !(numbers[i] < numbers[i - 1])) continue;
      const Ordered number = numbers[i];
      numbers[i] = numbers[i - 1];
      numbers[i - 1] = number;
      const unsigned short place = places[i];
      places[i] = places[i - 1];
      places[i - 1] = place;
    }
  }
}

// The thread's keys move to its places in shared memory, from `places` there. `was` are where they were at
// first.
__device__ __forceinline__ void move_items(Shared& shared, int first, int count, bool moved,
                                           const unsigned short (&places)[items]) {
  Bits keys[items];
  unsigned short was[items];
#pragma unroll
  for (int i = 0; i < items; ++i) {
    if (first + i >= count) break;
    keys[i] = shared.keys[places[i]];
    was[i] = moved ? shared.places[places[i]] : places[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i) {
    if (first + i >= count) break;
    shared.keys[first + i] = keys[i];
    shared.places[first + i] = was[i];
  }
  __syncthreads();
}

// Sorts `count` keys in shared memory; `shared.places` becomes where they were.
template <class Parts>
__device__ __forceinline__ void sort_tile(Shared& shared, int count, const Parts& parts) {
  const int first = threadIdx.x * items;
  unsigned short places[items];
  sort_items(shared.keys, first, count, parts, places);
  move_items(shared, first, count, false, places);
#pragma unroll 1
  for (int width = items; width < tile_keys; width *= 2) {
    const int pair = first / (2 * width) * (2 * width), middle = pair + width;
    int begin = pair, end = pair + 2 * width < count ? pair + 2 * width : count;
    if (middle < count) {
      parts.clip(middle, begin, end);
    } else {
      begin = end = middle;
    }
    merge_items(shared.keys, begin, middle, end, first, places);
    move_items(shared, first, count, true, places);
  }
}

__device__ __forceinline__ void load_tile(const Bits* source, int count, Shared& shared) {
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = i * Schedule::threads + threadIdx.x;
    if (place < count) shared.keys[place] = source[place];
  }
  __syncthreads();
}
