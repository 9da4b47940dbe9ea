#pragma once
#include "cuda/opaque.cuh"
#include "cuda/packed.cuh"
#include "cuda/shared_memory.cuh"
#include "sorting/merge_path.cuh"
// A tile of the keys of two sorted runs in order: a block finds which keys of both runs it has, and brings
// them to shared memory, where each thread merges as many.

constexpr int items = Schedule::items;  // keys of a thread
constexpr int tile_keys = Schedule::threads * items;

#if has_values
using Value = Problem::Value;
#endif

constexpr int vector_keys = 16 / sizeof(Bits);  // of an access of 16 bytes
using KeyVector = Packed<Bits, vector_keys>;
static_assert(tile_keys % vector_keys == 0, "a tile has whole vectors");

struct Shared {
  long long begin, end;  // of the tile in the first run
  Bits keys[tile_keys + vector_keys];
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

// A key by its offset in bytes.
__device__ __forceinline__ Bits key_at(const Bits* keys, int offset) {
  return *reinterpret_cast<const Bits*>(reinterpret_cast<const char*>(keys) + offset);
}

// Two runs that follow each other in shared memory, from `begin` to `middle` and on to `end`, are merged: the
// thread gets the keys from `first` on. `within`: keys before `begin` and from `end` on stay where they are;
// else `begin` is not behind `first`, and keys from `end` on may be any.
template <bool within>
__device__ __forceinline__ void merge_items(const Bits* keys, int begin, int middle, int end, int first,
                                            Items& merged) {
  constexpr int size = sizeof(Bits);  // a, b and what they are compared with are bytes
  const int from = first < begin ? begin : first < end ? first : end;
  const int of_a =
      keys_of_first<int>(keys + begin, middle - begin, keys + middle, end - middle, from - begin);
  int a = (begin + of_a) * size, both = a + (middle + from - begin - of_a) * size;  // a + b
  const int of_middle = middle * size, of_end = end * size;
  const int most = (end > begin ? of_end : begin * size + size) - 2 * size;  // behind which no key is read
  Bits next_a = a < of_end ? key_at(keys, a) : Bits();
  Bits next_b = both - a < of_end ? key_at(keys, both - a) : Bits();
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
    const int b = both - a;
    const bool from_b = (b < of_end) & ((a >= of_middle) | is_ahead(next_b, next_a));  // without branches
    const int at = from_b ? b : a;
    merged.keys[i] = from_b ? next_b : next_a;
#if has_values
    merged.places[i] = static_cast<unsigned short>(at / size);
#endif
    const Bits next = key_at(keys, (at < most ? at : most) + size);
    if (!from_b) a += size;
    both += size;
    next_a = from_b ? next_a : next;
    next_b = from_b ? next : next_b;
  }
}

// The thread's keys go to shared memory, so many places behind theirs.
__device__ __forceinline__ void leave_items(Shared& shared, int first, const Items& own, int shift = 0) {
#pragma unroll
  for (int i = 0; i < items; ++i) {
    shared.keys[shift + first + i] = own.keys[i];
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

// Brings the keys of a tile to shared memory: the first `of_a` of them from one place, the others from
// another, both of which have the tile's first key. `whole`: the tile lacks no key.
template <bool whole>
__device__ __forceinline__ void load_runs(const Bits* a, const Bits* b, int of_a, int count, Shared& shared) {
  const Bits *own_a = a + threadIdx.x, *own_b = b + threadIdx.x;
  make_opaque(own_a);  // else each key would have an address of its own
  make_opaque(own_b);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int place = i * Schedule::threads + threadIdx.x;
    const Bits* source = place < of_a ? own_a : own_b;
    if (whole || place < count) shared.keys[place] = __ldg(source + i * Schedule::threads);
  }
}

// Keys from where a vector begins in global memory to where a tile begins there.
__device__ __forceinline__ int shift_of(const Bits* target) {
  return static_cast<int>(reinterpret_cast<unsigned long long>(target) / sizeof(Bits) % vector_keys);
}

// Writes `count` keys in shared memory, which begin as far from a vector as `target` does.
__device__ __forceinline__ void store_tile(const Shared& shared, int count, Bits* target) {
  constexpr int vectors = tile_keys / vector_keys + 1;
  const int shift = shift_of(target), end = shift + count;
  Bits* aligned = target - shift;
#pragma unroll
  for (int i = 0; i < (vectors + Schedule::threads - 1) / Schedule::threads; ++i) {
    const int at = (i * Schedule::threads + threadIdx.x) * vector_keys;
    if (shift <= at && at + vector_keys <= end) {
      store_global_whole<false>(aligned + at, *reinterpret_cast<const KeyVector*>(shared.keys + at));
    } else {
#pragma unroll 1
      for (int j = at > shift ? at : shift; j < at + vector_keys && j < end; ++j) aligned[j] = shared.keys[j];
    }
  }
}

// Writes `count` keys of the merged runs from `begin` on, and their values.
__device__ __forceinline__ void merge_tile(const Run& a, const Run& b, long long begin, int count,
                                           const Part& part, const Target& target, Shared& shared) {
  const long long a_begin = part.begin, apart = part.end - a_begin;
  // Bounds of runs that are not sorted may come in any order.
  const int of_a = apart < 0 ? 0 : apart < count ? static_cast<int>(apart) : count;
  const int first = threadIdx.x * items;
  const long long b_begin = begin - a_begin - of_a;  // less the keys that the tile has of `a`
  if (count == tile_keys) {
    load_runs<true>(a.keys + a_begin, b.keys + b_begin, of_a, count, shared);
  } else {
    load_runs<false>(a.keys + a_begin, b.keys + b_begin, of_a, count, shared);
  }
  __syncthreads();
  Items merged;
  merge_items<false>(shared.keys, 0, of_a, count, first, merged);
  __syncthreads();
  leave_items(shared, first, merged, shift_of(target.keys + begin));
  __syncthreads();
  store_tile(shared, count, target.keys + begin);
#if has_values
  // All are loaded before the first is stored: for all that is known, they might be where others go.
  const Value *first_values = a.values + a_begin, *second_values = b.values + b_begin;
  Value loaded[items];
#  pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = i * Schedule::threads + threadIdx.x, place = at < count ? shared.places[at] : 0;
    loaded[i] = __ldg((place < of_a ? first_values : second_values) + place);
  }
#  pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = i * Schedule::threads + threadIdx.x;
    if (at < count) target.values[begin + at] = loaded[i];
  }
#endif
}
