#pragma once
#include "cuda/shared_memory.cuh"
#include "sorting/merge_path.cuh"
// A tile of the keys of two sorted runs in order: a block finds which keys of both runs it has, and brings
// them to shared memory, where each thread merges as many.

constexpr int items = Schedule::items;  // keys of a thread
constexpr int tile_keys = Schedule::threads * items;

#if has_values
using Value = Problem::Value;
#endif

struct Shared {
  long long begin, end;  // of the tile in the first run
  Bits keys[tile_keys];
  unsigned short places[tile_keys];
};

struct Run {
  const Bits* keys;
#if has_values
  const Value* values;
#endif
  long long count;
};

struct Target {
  Bits* keys;
#if has_values
  Value* values;
#endif
};

// Two runs that follow each other in shared memory, from `begin` to `middle` and on to `end`, are merged to
// where they are. `places` are those of the thread's keys from `first` on; keys that are in no run stay.
__device__ __forceinline__ void merge_items(const Bits* keys, int begin, int middle, int end, int first,
                                            unsigned short (&places)[items]) {
  const int from = first < begin ? begin : first < end ? first : end;
  const int of_a =
      keys_of_first<int>(keys + begin, middle - begin, keys + middle, end - middle, from - begin);
  int a = begin + of_a, b = middle + from - begin - of_a;
  Ordered next_a = a < middle ? ordered(keys[a]) : 0, next_b = b < end ? ordered(keys[b]) : 0;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = first + i;
    places[i] = static_cast<unsigned short>(at);
    if (at < begin || at >= end) continue;
    const bool from_a = b >= end || (a < middle && !(next_b < next_a));
    places[i] = static_cast<unsigned short>(from_a ? a : b);
    if (from_a) {
      if (++a < middle) next_a = ordered(keys[a]);
    } else {
      if (++b < end) next_b = ordered(keys[b]);
    }
  }
}

// Writes `count` keys of the merged runs from `begin` on, and their values.
__device__ __forceinline__ void merge_tile(const Run& a, const Run& b, long long begin, int count,
                                           const Target& target, Shared& shared) {
  const int thread = threadIdx.x;
  if (thread < 64) {
    const long long diagonal = begin + (thread < 32 ? 0 : count);
    const long long of_a = keys_of_first_by_warp(a.keys, a.count, b.keys, b.count, diagonal);
    if (thread == 0) shared.begin = of_a;
    if (thread == 32) shared.end = of_a;
  }
  __syncthreads();
  const long long a_begin = shared.begin, b_begin = begin - a_begin, most = a_begin + count;
  // Bounds of runs that are not sorted may come in any order.
  const long long a_end = shared.end < a_begin ? a_begin : shared.end > most ? most : shared.end;
  const int of_a = static_cast<int>(a_end - a_begin);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = i * Schedule::threads + thread;
    if (place >= count) break;
    shared.keys[place] = place < of_a ? a.keys[a_begin + place] : b.keys[b_begin + place - of_a];
  }
  __syncthreads();
  unsigned short places[items];
  const int first = thread * items;
  merge_items(shared.keys, 0, of_a, count, first, places);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    if (first + i < count) shared.places[first + i] = places[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = i * Schedule::threads + thread;
    if (at >= count) break;
    const int place = shared.places[at];
    target.keys[begin + at] = shared.keys[place];
#if has_values
    target.values[begin + at] = place < of_a ? a.values[a_begin + place] : b.values[b_begin + place - of_a];
#endif
  }
}
