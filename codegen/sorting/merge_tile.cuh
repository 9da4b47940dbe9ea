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
#if has_values
  unsigned short places[tile_keys];
#endif
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

// The thread's keys in a tile, and where they were in it.
struct Items {
  Bits keys[items];
#if has_values
  unsigned short places[items];
#endif
};

// Two runs that follow each other in shared memory, from `begin` to `middle` and on to `end`, are merged: the
// thread gets the keys from `first` on. `within`: keys before `begin` and from `end` on stay where they are;
// else `begin` is not behind `first`, and keys from `end` on may be any.
template <bool within>
__device__ __forceinline__ void merge_items(const Bits* keys, int begin, int middle, int end, int first,
                                            Items& merged) {
  const int from = first < begin ? begin : first < end ? first : end;
  const int of_a =
      keys_of_first<int>(keys + begin, middle - begin, keys + middle, end - middle, from - begin);
  int a = begin + of_a, b = middle + from - begin - of_a;
  const int last = end > begin ? end - 1 : begin;  // that may be read
  Bits next_a = a < end ? keys[a] : Bits(), next_b = b < end ? keys[b] : Bits();
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int own = first + i;
    if (within && (own < begin || own >= end)) {
      merged.keys[i] = keys[own];
#if has_values
      merged.places[i] = static_cast<unsigned short>(own);
#endif
      continue;
    }
    const bool from_b = (b < end) & ((a >= middle) | is_ahead(next_b, next_a));  // without branches
    merged.keys[i] = from_b ? next_b : next_a;
#if has_values
    merged.places[i] = static_cast<unsigned short>(from_b ? b : a);
#endif
    if (from_b) {
      ++b;
    } else {
      ++a;
    }
    const int at = from_b ? b : a;
    const Bits next = keys[at < last ? at : last];
    next_a = from_b ? next_a : next;
    next_b = from_b ? next : next_b;
  }
}

// The thread's keys go to shared memory.
__device__ __forceinline__ void leave_items(Shared& shared, int first, const Items& own) {
#pragma unroll
  for (int i = 0; i < items; ++i) {
    shared.keys[first + i] = own.keys[i];
#if has_values
    shared.places[first + i] = own.places[i];
#endif
  }
}

// The keys of a tile in the first of two runs.
struct Part {
  long long begin, end;
};

// Finds that of the `count` keys from `begin` on.
__device__ __forceinline__ Part part_of(const Run& a, const Run& b, long long begin, int count,
                                        Shared& shared) {
  const int thread = threadIdx.x;
  if (thread < 64) {
    const long long of_a =
        keys_of_first_by_lanes<32>(a.keys, a.count, b.keys, b.count, begin + (thread < 32 ? 0 : count));
    if (thread == 0) shared.begin = of_a;
    if (thread == 32) shared.end = of_a;
  }
  __syncthreads();
  return {shared.begin, shared.end};
}

// Writes `count` keys of the merged runs from `begin` on, and their values.
__device__ __forceinline__ void merge_tile(const Run& a, const Run& b, long long begin, int count,
                                           const Part& part, const Target& target, Shared& shared) {
  const int thread = threadIdx.x;
  // No part leads out of the runs, and bounds of runs that are not sorted may come in any order.
  const long long least = begin - b.count, a_begin = part.begin < least ? least : part.begin;
  const long long least_end = least + count < a_begin ? a_begin : least + count, most = a_begin + count;
  const long long a_end = part.end < least_end ? least_end : part.end > most ? most : part.end;
  const long long b_begin = begin - a_begin;
  const int of_a = static_cast<int>(a_end - a_begin);
  const Bits* first_keys = a.keys + a_begin + thread;
  const Bits* second_keys = b.keys + (b_begin - of_a) + thread;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = i * Schedule::threads + thread;
    if (place < count) shared.keys[place] = (place < of_a ? first_keys : second_keys)[i * Schedule::threads];
  }
  __syncthreads();
  Items merged;
  merge_items<false>(shared.keys, 0, of_a, count, thread * items, merged);
  __syncthreads();
  leave_items(shared, thread * items, merged);
  __syncthreads();
  Bits* keys = target.keys + begin;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = i * Schedule::threads + thread;
    if (at >= count) break;
    keys[at] = shared.keys[at];
#if has_values
    const int place = shared.places[at];
    target.values[begin + at] = place < of_a ? a.values[a_begin + place] : b.values[b_begin + place - of_a];
#endif
  }
}
