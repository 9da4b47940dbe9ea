#pragma once
#include "cuda/warp_scan.cuh"
#include "selection/highest_reached.cuh"
#include "selection/entries.cuh"
// The first k entries of a row's part, or of what several blocks left of a row, in shared memory.

constexpr int candidates = Schedule::candidates;

struct Selection {
  Entry* entries;  // `candidates` of them
  int* counts;     // of each warp, twice
  int* found;
  static constexpr int digit_bits = 11, bins = 1 << digit_bits;

  // Over all threads of the block; those of one call and of the next go to different places.
  __device__ __forceinline__ int sum_block(int value, int turn) const {
    constexpr int warps = threads / 32;
    int* of_warps = counts + turn % 2 * warps;
    value = sum_lanes(value);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    return sum_lanes(threadIdx.x % 32 < warps ? of_warps[threadIdx.x % 32] : 0);
  }

  // See `highest_reached`, of the entries that the block's threads have.
  template <int items>
  __device__ __forceinline__ Entry floor_among(const Entry (&own)[items], int wanted, int enough) const {
    int turn = 0;
    return highest_reached(Entry{1}, ~Entry{0}, wanted, enough, [&](Entry floor) {
      int reached = 0;
#pragma unroll
      for (int i = 0; i < items; ++i) reached += own[i] >= floor;
      return sum_block(reached, turn++);
    });
  }

  // Keeps the entries that reach a floor, as far as there is room; how many they are.
  template <class Source>
  __device__ __forceinline__ int keep(const Source& source, Entry floor) const {
    __syncthreads();
    if (threadIdx.x == 0) *found = 0;
    __syncthreads();
    source.for_each(floor, [&](Entry entry, int) {
      const int slot = atomicAdd(found, 1);
      if (slot < candidates) entries[slot] = entry;
    });
    __syncthreads();
    return *found;
  }
#if samples > 0

  // A floor that k entries and few more will reach: what so many of a sample reach that k of all do as good
  // as certainly, which counts four standard deviations above their mean.
  template <class Source>
  __device__ __forceinline__ Entry sampled_floor(const Source& source, int k) const {
    Entry own[sampled];
    source.sample(own);
    const float mean = static_cast<float>(k) * (threads * sampled) / source.count();
    const int wanted = static_cast<int>(mean + 3.5f * sqrtf(mean) + 3.0f);
    return floor_among(own, wanted, wanted + wanted / 8);
  }
#endif

  // The bin, counted from the last one, in which the sum of all bins so far reaches `wanted`, which becomes
  // what is wanted of this bin alone.
  template <typename Amount>
  __device__ __forceinline__ int bin_of(const Amount* bins_of, Amount& wanted) const {
    constexpr int of_group = bins / 32;
    const int lane = threadIdx.x % 32;
    Amount group = 0;
    for (int i = 0; i < of_group; ++i) group += bins_of[bins - 1 - (lane * of_group + (i + lane) % of_group)];
    Amount through = scan_lanes<32>(group, Sum());
    const int first = __ffs(__ballot_sync(0xffffffffu, through >= wanted)) - 1;
    wanted -= from_lane<32>(through - group, first);
    for (int base = first * of_group;; base += 32) {
      const Amount own = bins_of[bins - 1 - (base + lane)];
      through = scan_lanes<32>(own, Sum());
      const unsigned reached = __ballot_sync(0xffffffffu, through >= wanted);
      if (reached) {
        wanted -= from_lane<32>(through - own, __ffs(reached) - 1);
        return base + __ffs(reached) - 1;
      }
      wanted -= from_lane<32>(through, 31);
    }
  }

  // A floor whose entries weigh `wanted` or more in sum: the first digits of the entry with which they do,
  // one more after each round through all entries (radix selection), until `enough` says of what is wanted of
  // those that share them, of their sum, of the floor and of its bits that are left that it will do.
  template <typename Amount, class Source, class Weigh, class Enough>
  __device__ __forceinline__ Entry floor_by_digits(const Source& source, Amount wanted, Weigh weigh,
                                                   Enough enough) const {
    static_assert(candidates * sizeof(Entry) >= bins * sizeof(Amount), "bins are where candidates are");
    Amount* sums = reinterpret_cast<Amount*>(entries);
    Entry floor = 0;
    for (int shift = Problem::element_bits + 32; shift > 0;) {
      const int bits = shift < digit_bits ? shift : digit_bits;
      shift -= bits;
      __syncthreads();
      for (int i = threadIdx.x; i < bins; i += threads) sums[i] = 0;
      __syncthreads();
      source.for_each(1, [&](Entry entry, int) {
        if ((entry ^ floor) >> shift >> bits == 0) {
          atomicAdd(sums + (entry >> shift & ((1 << bits) - 1)), weigh(entry));
        }
      });
      __syncthreads();
      const int bin = bins - 1 - bin_of(sums, wanted);
      floor |= static_cast<Entry>(bin) << shift;
      if (enough(wanted, sums[bin], floor, shift)) break;
    }
    return floor ? floor : 1;
  }

  // A floor that k entries reach, and no more than there is room for.
  template <class Source>
  __device__ __forceinline__ Entry counted_floor(const Source& source, int k) const {
    return floor_by_digits(
        source, static_cast<unsigned>(k), [](Entry) { return 1u; },
        [=](unsigned wanted, unsigned counted, Entry, int) { return k - wanted + counted <= candidates; });
  }

  // Leaves the first k entries of a source that has as many, in any order.
  template <class Source>
  __device__ __forceinline__ void select(const Source& source, int k) const {
    int kept;
    if (source.count() <= candidates) {
      for (int i = threadIdx.x; i < candidates; i += threads) entries[i] = 0;
      __syncthreads();
      source.for_each(1, [&](Entry entry, int place) { entries[place] = entry; });
      kept = source.count();
    } else {
#if samples > 0
      kept = keep(source, sampled_floor(source, k));
      if (kept < k || kept > candidates) kept = keep(source, counted_floor(source, k));
#else
      kept = keep(source, counted_floor(source, k));
#endif
    }
    __syncthreads();
    Entry own[candidates / threads];
#pragma unroll
    for (int i = 0; i < candidates / threads; ++i) {
      const int slot = threadIdx.x + i * threads;
      own[i] = slot < kept ? entries[slot] : 0;
    }
    const Entry floor = floor_among(own, k, k);
    if (threadIdx.x == 0) *found = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < candidates / threads; ++i) {
      if (own[i] >= floor) entries[atomicAdd(found, 1)] = own[i];
    }
    __syncthreads();
  }
};
