#pragma once
#include "sorting/segmented_sort/segments.cuh"
#include "sorting/sort_tile.cuh"
// Blocks sort the segments in tiles: those that lie in one are done. Then each launch merges pairs of runs,
// each as long as two of the launch before. Of a pair, only the segment that goes on from the first run into
// the second one has keys to merge. Keys of segments that go on beyond the pair pass from one spare array to
// the other.

// Places of a tile where segments begin, and the segment at each thread's first key, as far as it is in the
// tile.
struct Heads {
  unsigned words[(tile_keys + 31) / 32 + 1];
  unsigned short begins[Schedule::threads], ends[Schedule::threads];
};

struct SharedTile {
  Shared keys;
  Heads heads;
};

// Segments of a tile, as `sort_tile` asks for them.
struct Segments {
  static constexpr bool parted = true;
  const Heads& heads;
  unsigned own;  // a bit for each of the thread's keys: it begins a segment

  __device__ __forceinline__ bool begins(int item) const { return own >> item & 1; }

  __device__ __forceinline__ void clip(int middle, int& begin, int& end) const {
    const int thread = middle / items;
    if (heads.begins[thread] > begin) begin = heads.begins[thread];
    if (heads.ends[thread] < end) end = heads.ends[thread];
  }
};

// Finds the segments of a tile.
__device__ __forceinline__ Segments segments_of(const Arguments& arguments, const Problem& problem,
                                                Heads& heads, long long begin, int count) {
  const int thread = threadIdx.x, first = thread * items;
  const Offset* offsets = arguments.offsets;
  for (int i = thread; i < (tile_keys + 31) / 32 + 1; i += Schedule::threads) heads.words[i] = 0;
  __syncthreads();
  const bool is_last = begin + count == problem.columns;
  const long long low = arguments.firsts[blockIdx.x] + 1;
  const long long high = is_last ? problem.segments : arguments.firsts[blockIdx.x + 1] + 1;
  for (long long i = low + thread; i <= high; i += Schedule::threads) {
    const long long at = bound_at(offsets, problem, i) - begin;
    if (at >= 0 && at < count) atomicOr(heads.words + at / 32, 1u << at % 32);
  }
  if (first < count) {
    const long long next = first_behind(offsets, low, high, begin + first);
    const Segment found = segment_ahead(offsets, problem, next, begin + first);
    heads.begins[thread] = static_cast<unsigned short>(found.begin < begin ? 0 : found.begin - begin);
    heads.ends[thread] = static_cast<unsigned short>(found.end - begin < count ? found.end - begin : count);
  }
  __syncthreads();
  const int word = first / 32;
  const unsigned long long both =
      static_cast<unsigned long long>(heads.words[word + 1]) << 32 | heads.words[word];
  return {heads, static_cast<unsigned>(both >> first % 32)};
}

__device__ __forceinline__ void sort_segments(const Arguments& arguments) {
  const Problem problem(arguments);
  SharedTile& shared = *dynamic_shared<SharedTile>();
  const long long begin = blockIdx.x * static_cast<long long>(tile_keys), rest = problem.columns - begin;
  const int count = static_cast<int>(rest < tile_keys ? rest : tile_keys);
  load_tile(reinterpret_cast<const Bits*>(arguments.keys) + begin, count, shared.keys);
  const Segments segments = segments_of(arguments, problem, shared.heads, begin, count);
  sort_tile(shared.keys, count, segments);
  const Reach reach = reach_of(arguments, problem, begin, begin + count);
  const long long first = bound_at(arguments.offsets, problem, 0);
  const long long last = bound_at(arguments.offsets, problem, problem.segments);
  for (int i = threadIdx.x; i < count; i += Schedule::threads) {
    const long long at = begin + i;
    const bool done = reach.left <= at && at < reach.right;
    if (done && (at < first || at >= last)) continue;  // in no segment
    Bits* keys = done ? reinterpret_cast<Bits*>(arguments.keys_out) : static_cast<Bits*>(arguments.target);
    keys[at] = shared.keys.keys[i];
#if has_values
    Value* values =
        done ? reinterpret_cast<Value*>(arguments.values_out) : static_cast<Value*>(arguments.target_values);
    values[at] = reinterpret_cast<const Value*>(arguments.values)[begin + shared.keys.places[i]];
#endif
  }
}

// What a launch does to a tile.
struct Merging {
  long long begin, end;  // of the tile
  long long middle;      // of the pair that it is in
  Reach reach;           // of the pair
  Segment both;          // that goes on from the first run into the second one, as far as it is in the pair
  bool done;             // `both` is all of its segment

  __device__ __forceinline__ bool has_merged() const { return begin < both.end && both.begin < end; }
  __device__ __forceinline__ bool has_left() const { return begin < reach.left || reach.right < end; }
};

// Runs have `tile_keys` keys, as many times 2 as `level` says.
__device__ __forceinline__ Merging merging_of(const Arguments& arguments, const Problem& problem,
                                              long long tile) {
  const long long length = static_cast<long long>(tile_keys) << arguments.level;
  Merging merging;
  merging.begin = tile * tile_keys;
  merging.end = merging.begin + tile_keys < problem.columns ? merging.begin + tile_keys : problem.columns;
  const int level = arguments.level + 1;
  const long long pair = (tile >> level << level) * tile_keys, middle = pair + length;
  const long long pair_end = pair + 2 * length < problem.columns ? pair + 2 * length : problem.columns;
  merging.middle = middle;
  merging.reach = reach_of(arguments, problem, pair, pair_end);
  merging.both = {pair, pair};
  merging.done = true;
  if (middle < problem.columns) {
    const Segment found = segment_at(arguments, problem, middle);
    if (found.begin < middle) {
      merging.done = found.begin >= pair && found.end <= pair_end;
      merging.both.begin = found.begin > pair ? found.begin : pair;
      merging.both.end = found.end < middle ? middle : found.end < pair_end ? found.end : pair_end;
    }
  }
  return merging;
}

struct MergingTiles {
  Shared keys;
  Merging tiles[Schedule::tiles_per_block];
  unsigned pending;  // a bit for each of them that has anything to do
};

__device__ __forceinline__ void merge_segment(const Arguments& arguments, const Merging& merging,
                                              Shared& shared) {
  const Reach& reach = merging.reach;
  const Segment& both = merging.both;
  const long long begin = merging.begin, end = merging.end, middle = merging.middle;
  const Bits* source = static_cast<const Bits*>(arguments.source);
  Bits* spare = static_cast<Bits*>(arguments.target);
#if has_values
  const Value* source_values = static_cast<const Value*>(arguments.source_values);
  Value* spare_values = static_cast<Value*>(arguments.target_values);
#endif
  if (merging.has_left()) {
    for (long long at = begin + threadIdx.x; at < end; at += Schedule::threads) {
      const bool merged = both.begin <= at && at < both.end;
      if (merged || (reach.left <= at && at < reach.right)) continue;
      spare[at] = source[at];
#if has_values
      spare_values[at] = source_values[at];
#endif
    }
  }
  if (!merging.has_merged()) return;
  const long long from = begin > both.begin ? begin : both.begin, to = end < both.end ? end : both.end;
  Run a, b;
  Target target;
  a.count = middle - both.begin;
  b.count = both.end - middle;
  a.keys = source + both.begin;
  b.keys = source + middle;
  target.keys = (merging.done ? reinterpret_cast<Bits*>(arguments.keys_out) : spare) + both.begin;
#if has_values
  a.values = source_values + both.begin;
  b.values = source_values + middle;
  target.values = (merging.done ? reinterpret_cast<Value*>(arguments.values_out) : spare_values) + both.begin;
#endif
  const int count = static_cast<int>(to - from);
  merge_tile(a, b, from - both.begin, count, part_of(a, b, from - both.begin, count, shared), target, shared);
  __syncthreads();
}

// A block has tiles as far apart as there are blocks. Lanes look at one each: most have nothing to do.
__device__ __forceinline__ void merge_segments(const Arguments& arguments) {
  const Problem problem(arguments);
  MergingTiles& merging = *dynamic_shared<MergingTiles>();
  const int lane = threadIdx.x;
  if (lane < 32) {
    const long long tile = blockIdx.x + lane * static_cast<long long>(gridDim.x);
    bool pending = false;
    if (lane < Schedule::tiles_per_block && tile * tile_keys < problem.columns) {
      const Merging found = merging_of(arguments, problem, tile);
      pending = found.has_merged() || found.has_left();
      merging.tiles[lane] = found;
    }
    const unsigned all = __ballot_sync(0xffffffffu, pending);
    if (lane == 0) merging.pending = all;
  }
  __syncthreads();
  for (unsigned pending = merging.pending; pending != 0; pending &= pending - 1) {
    merge_segment(arguments, merging.tiles[__ffs(static_cast<int>(pending)) - 1], merging.keys);
  }
}
