#pragma once
#include "cuda/shared_memory.cuh"
#include "selection/sampling/parameters.cuh"
#include "selection/select.cuh"
#include "cuda/sort_entries.cuh"
// A block for each row. Where few tokens may be drawn, or are most of the mass, it goes on with these in
// shared memory; otherwise it reads the row once more for each digit of the floor, and once for the draw.

struct Sampler {
  const Selection& selection;
  const RowPart& part;
  Weights weights;
  Mass* of_warps;  // in shared memory, one for each warp

  // The sum of what the threads before this one have, and of all.
  __device__ __forceinline__ Mass before(Mass own, Mass& total) const {
    constexpr int warps = threads / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Mass through = scan_lanes<32>(own, Sum());
    __syncthreads();
    if (lane == 31) of_warps[warp] = through;
    __syncthreads();
    const Mass of_warp = lane < warps ? of_warps[lane] : 0;
    const Mass through_warp = scan_lanes<32>(of_warp, Sum());
    total = from_lane<32>(through_warp, 31);
    return from_lane<32>(through_warp - of_warp, warp) + through - own;
  }

  __device__ __forceinline__ Mass mass_of_row() const {
    Mass own = 0, total;
    part.elements<threads>([&](Element element, int) { own += weights.of(to_float(element)); });
    before(own, total);
    return total;
  }

  // The largest of the first `count` entries in shared memory, or of the row.
  __device__ __forceinline__ Entry largest(int count) const {
    Entry own = 0;
    for (int i = threadIdx.x; i < count; i += threads) own = LargerEntry()(own, selection.entries[i]);
    if (count == 0) {
      float bound = value_of(0);
      part.elements<threads>([&](Element element, int column) {
        if (passes(element, bound)) {
          own = LargerEntry()(own, entry_of(key_of(element), column));
          bound = value_of(key_of_entry(own));
        }
      });
    }
    __syncthreads();
    own = reduce_row<threads>(own, LargerEntry(), of_warps);
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

  // Sorts entries, and keeps the first ones until their mass is a share of `total`; how many these are, and 0
  // if there are too few.
  __device__ __forceinline__ int cut(int count, float p, Mass total) const {
    const int items = sorted(count);
    const Entry* entries = selection.entries + threadIdx.x * items;
    const Mass share = share_of(p, total);
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

  // The token where the sum of the kept entries' weights, by columns, exceeds the share that was drawn.
  __device__ __forceinline__ int draw_kept(int count, Mass random, int* token) const {
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
      *token = column_of(entry_at(i));
    }
    __syncthreads();
    return *token;
  }

  // The same of all entries of the row from a floor on: the block halves the part that has the token by as
  // many warps as it has, until a vector for each lane is left.
  __device__ __forceinline__ int draw_from(Entry floor, Mass random, int* token) const {
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
      if (lane == 0) of_warps[warp] = of_lanes;
      __syncthreads();
      const Mass own = lane < warps ? of_warps[lane] : 0;
      const Mass through = scan_lanes<32>(own, Sum());
      if (!again) drawn = __umul64hi(random, from_lane<32>(through, 31));
      const int chosen = __ffs(__ballot_sync(0xffffffffu, through > drawn)) - 1;
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
      *token = column + i;
    }
    __syncthreads();
    return *token;
  }
};

__device__ __forceinline__ void sampling_blocks(const Arguments& arguments) {
  const Problem problem(arguments);
  Entry* entries = dynamic_shared<Entry>();
  Mass* of_warps = entries + candidates;
  int* counts = reinterpret_cast<int*>(of_warps + threads / 32);
  int *found = counts + threads / 32 * 2, *token = found + 1;
  const Selection selection{entries, counts, found};
  const long long number = blockIdx.x;
  const Row row(arguments, problem, number);
  const RowPart part{row, 0, row.vectors()};
  const Parameters parameters(arguments, number, problem.columns);
  int kept = 0;           // entries in shared memory
  bool complete = false;  // whether they are all that may be drawn
#if top_k
  if (parameters.k > 0 && !parameters.greedy) {
    selection.select(part, parameters.k);
    kept = parameters.k;
    complete = true;
  }
#endif
#if top_p
  if (!complete && parameters.p < 1.0f && !parameters.greedy) {
    complete = part.count() <= candidates;
    kept = selection.keep(part, complete ? 1 : selection.sampled_floor(part, candidates / 2));
    if (kept > candidates) kept = 0;
  }
#endif
  Sampler sampler{selection, part, {parameters.scale, 0.0f, parameters.least}, of_warps};
  const Entry first = sampler.largest(kept);
  int chosen = column_of(first);
  if (is_void(first)) {
    chosen = -1;
  } else if (!parameters.greedy) {
    sampler.weights.top = __fmul_rn(value_of(key_of_entry(first)), parameters.scale);
#if min_p && source == probs
    sampler.weights.least = least_weight(parameters.share, sampler.weights.of(first));
#endif
    const Mass random = random_bits(arguments, number);
    Entry floor = 1;
#if top_p
    if (parameters.p < 1.0f) {
      Mass total = 0;
      if (complete) {
        Mass own = 0;
        for (int i = threadIdx.x; i < kept; i += threads) own += sampler.weights.of(entries[i]);
        sampler.before(own, total);
      } else {
        total = sampler.mass_of_row();
      }
      const int cut = kept > 0 ? sampler.cut(kept, parameters.p, total) : 0;
      if (cut > 0) {
        kept = cut;
        complete = true;
      } else {
        const Weights weights = sampler.weights;
        floor = selection.floor_by_digits(
            part, share_of(parameters.p, total), [=](Entry entry) { return weights.of(entry); },
            [=](Mass, Mass sum, Entry floor, int shift) { return shift < 32 && sum == weights.of(floor); });
      }
    }
#endif
    chosen = complete ? sampler.draw_kept(kept, random, token) : sampler.draw_from(floor, random, token);
  }
  if (threadIdx.x == 0) arguments.tokens[number] = chosen;
}
