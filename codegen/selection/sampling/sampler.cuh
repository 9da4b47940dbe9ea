#pragma once
#include "cuda/shared_memory.cuh"
#include "selection/sampling/parameters.cuh"
#include "selection/select.cuh"
#include "cuda/sort_entries.cuh"
// A block finds what may be drawn of a row: a few tokens in shared memory, or all from a floor on.

#if top_p
// Adds to a sum in shared memory, by its halves: there is no instruction for all of it.
__device__ __forceinline__ void add_mass(Mass* sum, Mass mass) {
  unsigned* halves = reinterpret_cast<unsigned*>(sum);
  const unsigned low = static_cast<unsigned>(mass), before = atomicAdd(halves, low);
  const unsigned high = static_cast<unsigned>(mass >> 32) + (before + low < before);
  if (high > 0) atomicAdd(halves + 1, high);
}

#endif
struct SamplerMemory {
  Entry entries[candidates];
  Mass of_warps[threads / 32];
#if top_p
  Mass of_bins[mass_bins];
#endif
  int counts[threads / 32 * 2];
  int found, token;
};

// What may be drawn of a row: the first entries in shared memory, or all of the row from a floor on, of which
// those count that weigh enough.
struct Choice {
  Entry first;  // of the row
  int kept;     // entries in shared memory; 0: the floor says what may be drawn
  Entry floor;  // 1 keeps all
  Mass mass;    // from the floor on, if it is not 1
};

struct Sampler {
  const RowPart& part;
  SamplerMemory& memory;
  Selection selection;
  Weights weights;

  __device__ __forceinline__ Sampler(const RowPart& part, const Parameters& parameters, SamplerMemory& memory)
      : part(part),
        memory(memory),
        selection{memory.entries, memory.counts, &memory.found},
        weights{parameters.scale, 0.0f, parameters.least} {}

  // The sum of what the threads before this one have, and of all.
  __device__ __forceinline__ Mass before(Mass own, Mass& total) const {
    constexpr int warps = threads / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Mass through = scan_lanes<32>(own, Sum());
    __syncthreads();
    if (lane == 31) memory.of_warps[warp] = through;
    __syncthreads();
    const Mass of_warp = lane < warps ? memory.of_warps[lane] : 0;
    const Mass through_warp = scan_lanes<32>(of_warp, Sum());
    total = from_lane<32>(through_warp, 31);
    return from_lane<32>(through_warp - of_warp, warp) + through - own;
  }

  // The mass of the first `count` entries in shared memory.
  __device__ __forceinline__ Mass mass_of(int count) const {
    Mass own = 0, total;
    for (int i = threadIdx.x; i < count; i += threads) own += weights.of(selection.entries[i]);
    before(own, total);
    return total;
  }

  // The first one of the first `count` entries in shared memory.
  __device__ __forceinline__ Entry largest_of(int count) const {
    Entry own = 0;
    for (int i = threadIdx.x; i < count; i += threads) own = LargerEntry()(own, selection.entries[i]);
    return over_block(own, LargerEntry());
  }

  // That of the row.
  __device__ __forceinline__ Entry largest_of_row() const {
    Entry own = 0;
    float bound = value_of(0);
    part.elements<threads>([&](Element element, int column) {
      if (passes(element, bound)) {
        own = LargerEntry()(own, entry_of(key_of(element), column));
        bound = value_of(key_of_entry(own));
      }
    });
    return over_block(own, LargerEntry());
  }

  template <class Combine>
  __device__ __forceinline__ Entry over_block(Entry own, Combine combine) const {
    __syncthreads();
    own = reduce_row<threads>(own, combine, memory.of_warps);
    __syncthreads();
    return own;
  }

  // Sorts the first `count` entries, and pads them with zeros; how many one thread has of them, side by side.
  __device__ __forceinline__ int sorted(int count) const {
    int padded = threads;
    while (padded < count) padded *= 2;
    for (int i = count + threadIdx.x; i < padded; i += threads) selection.entries[i] = 0;
    __syncthreads();
    sort_entries(selection.entries, padded);
    return padded / threads;
  }

  // Sorts entries, and keeps the first ones until their mass is a share; how many these are, and 0 if there
  // are too few.
  __device__ __forceinline__ int cut(int count, Mass share) const {
    const int items = sorted(count);
    const Entry* entries = selection.entries + threadIdx.x * items;
    Mass own = 0, all;
    for (int i = 0; i < items; ++i) own += entries[i] ? weights.of(entries[i]) : 0;
    Mass ahead = before(own, all);
    int kept = 0;
    for (int i = 0; i < items; ++i) {
      kept += entries[i] && ahead < share;
      ahead += entries[i] ? weights.of(entries[i]) : 0;
    }
    kept = selection.sum_block(kept, 0);
    return all < share ? 0 : kept;
  }
#if top_p

  // A floor that fewer entries reach than there is room for, as good as certainly.
  __device__ __forceinline__ Entry floor_of_many() const {
    Entry own[sampled];
    part.sample(own);
    const float share = static_cast<float>(threads * sampled) / part.count();
    const int wanted = static_cast<int>(candidates * 0.6f * share) + 1;
    return selection.floor_among(own, wanted, wanted + wanted / 8);
  }

  static_assert(mass_bins == Selection::bins, "a search finds the bin of a share");

  // The mass of the row. Bins have that of the entries with about the same weight, those of the largest last.
  __device__ __forceinline__ Mass sum_bins() const {
    for (int i = threadIdx.x; i < mass_bins; i += threads) memory.of_bins[i] = 0;
    __syncthreads();
    Mass own = 0, total;
    part.elements<threads>([&](Element element, int) {
      const float number = to_float(element);
      const Mass weight = weights.of(number);
      if (weight == 0) return;
      own += weight;
      add_mass(memory.of_bins + (mass_bins - 1 - weights.bin_of(number)), weight);
    });
    before(own, total);
    return total;
  }

  // The entries of a bin, in any order, as far as there is room where they go; `found` counts them.
  __device__ __forceinline__ void collect_bin(int bin, Entry* entries, int* found) const {
    part.elements<threads>([&](Element element, int column) {
      if (weights.bin_of(to_float(element)) != bin) return;
      const int slot = atomicAdd(found, 1);
      if (slot < candidates) entries[slot] = entry_of(key_of(element), column);
    });
  }

  // The last entry of those whose mass is `wanted` of a bin's, whose entries are in shared memory; `mass`
  // gets theirs. If there was no room, the digits of the row's are counted.
  __device__ __forceinline__ Entry floor_in_bin(const RowPart& whole, int bin, Mass wanted,
                                                Mass& mass) const {
    const int found = memory.found;
    if (found > candidates) {
      const Weights all = weights;
      const auto weigh = [=](Entry entry) {
        return all.bin_of(value_of(key_of_entry(entry))) == bin ? all.of(entry) : 0;
      };
      const auto enough = [=](Mass, Mass sum, Entry floor, int shift) {
        return shift < 32 && sum == all.of(floor);
      };
      mass = 0;
      return selection.floor_by_digits(whole, wanted, weigh, enough);
    }
    const int kept = cut(found, wanted);
    mass += mass_of(kept);
    return memory.entries[kept - 1];
  }

  // The last entry of those whose mass is a share of the row's: it is in the bin with which the sum of bins
  // reaches the share.
  __device__ __forceinline__ Entry floor_of_share(Mass share, Mass& mass) const {
    Mass wanted = share;
    const int bin = selection.bin_of(memory.of_bins, wanted);
    if (threadIdx.x == 0) memory.found = 0;
    __syncthreads();
    collect_bin(bin, memory.entries, &memory.found);
    __syncthreads();
    mass = share - wanted;
    return floor_in_bin(part, bin, wanted, mass);
  }
#endif

  // Weights are by the first entry of the row from then on.
  __device__ __forceinline__ void weigh_by(Entry first, const Parameters& parameters) {
    weights.top = __fmul_rn(value_of(key_of_entry(first)), parameters.scale);
#if min_p && source == probs
    weights.least = least_weight(parameters.share, weights.of(first));
#endif
  }

  __device__ __forceinline__ Choice choose(const Parameters& parameters) {
    Choice choice{0, 0, 1, 0};
    const bool draws = !parameters.greedy;
#if top_k
    if (draws && parameters.k > 0) {
      selection.select(part, parameters.k);
      choice.kept = parameters.k;
    }
#endif
    int found = choice.kept;  // entries in shared memory, with the first one among them
#if top_p
    const bool cuts = draws && parameters.p < 1.0f;
    if (cuts && found == 0) {
      found = selection.keep(part, part.count() <= candidates ? 1 : floor_of_many());
      if (found > candidates) found = 0;
      if (found == part.count()) choice.kept = found;
    }
#endif
    choice.first = found > 0 ? largest_of(found) : largest_of_row();
    if (is_void(choice.first)) return choice;
    weigh_by(choice.first, parameters);
#if top_p
    if (cuts) {
      const Mass share = share_of(parameters.p, choice.kept > 0 ? mass_of(found) : sum_bins());
      choice.kept = found > 0 ? cut(found, share) : 0;
      if (choice.kept == 0) choice.floor = floor_of_share(share, choice.mass);
    }
#endif
    return choice;
  }

  // The token where the sum of the kept entries' weights, by columns, exceeds the share that was drawn.
  __device__ __forceinline__ int draw_kept(int count, Mass random) const {
    Entry* entries = selection.entries;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += threads) entries[i] = entries[i] << 32 | entries[i] >> 32;
    const int items = sorted(count);
    const auto entry_at = [=](int i) {
      const Entry turned = entries[threadIdx.x * items + i];
      return turned << 32 | turned >> 32;
    };
    Mass own = 0, total;
    for (int i = 0; i < items; ++i) own += entry_at(i) ? weights.counted(entry_at(i)) : 0;
    Mass through = before(own, total);
    const Mass drawn = __umul64hi(random, total);
    if (through <= drawn && drawn < through + own) {
      int i = 0;
      for (;; ++i) {
        through += weights.counted(entry_at(i));
        if (through > drawn) break;
      }
      memory.token = column_of(entry_at(i));
    }
    __syncthreads();
    return memory.token;
  }

  // The same of all entries of the part from a floor on, if it has the token, and -1 if not: `share` makes
  // what is drawn of their mass. The block divides the piece that has the token by as many warps as it has,
  // until a vector for each lane is left.
  template <class Share>
  __device__ __forceinline__ int draw_from(Entry floor, Share share) const {
    constexpr int warps = threads / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const auto mass_of = [&](int first, int end) {
      Mass own = 0;
      const RowPart some{part.row, first, end};
      some.template elements<32>([&](Element element, int column) {
        if (floor == 1 || entry_of(key_of(element), column) >= floor)
          own += weights.counted(to_float(element));
      });
      return own;
    };
    int first = part.first, end = part.end;
    Mass drawn = 0;
    for (bool again = false; end - first > 32 || !again; again = true) {
      const int of_warp = (end - first + warps - 1) / warps;
      const int own_first = first + warp * of_warp < end ? first + warp * of_warp : end;
      const int own_end = end - own_first < of_warp ? end : own_first + of_warp;
      const Mass of_lanes = reduce_lanes<32>(mass_of(own_first, own_end), Sum());
      __syncthreads();
      if (lane == 0) memory.of_warps[warp] = of_lanes;
      __syncthreads();
      const Mass own = lane < warps ? memory.of_warps[lane] : 0;
      const Mass through = scan_lanes<32>(own, Sum());
      if (!again) drawn = share(from_lane<32>(through, 31));
      const int chosen = __ffs(__ballot_sync(0xffffffffu, through > drawn)) - 1;
      if (chosen < 0) return -1;
      drawn -= from_lane<32>(through - own, chosen);
      first = first + chosen * of_warp;
      end = end - first < of_warp ? end : first + of_warp;
    }
    const int column = first + lane < end ? part.row.column(first + lane) : part.row.length;
    const auto weight_at = [&](int i) {
      if (!part.row.has(column + i)) return Mass{0};
      const Entry entry = entry_of(key_of(part.row.elements[column + i]), column + i);
      return entry < floor ? 0 : weights.counted(entry);
    };
    Mass own = 0;
    for (int i = 0; i < width; ++i) own += weight_at(i);
    Mass through = scan_lanes<32>(own, Sum()) - own;
    if (warp == 0 && through <= drawn && drawn < through + own) {
      int i = 0;
      for (;; ++i) {
        through += weight_at(i);
        if (through > drawn) break;
      }
      memory.token = column + i;
    }
    __syncthreads();
    return memory.token;
  }
};
