#pragma once
#include "sorting/part_ahead.cuh"
#include "sorting/sort_tile.cuh"
// Blocks sort tiles of rows; then each launch merges pairs of runs, which become twice as long.

struct Tile {
  unsigned number;       // in the row
  long long row, begin;  // the row's first key, and the tile's in the row
  int count;
};

__device__ __forceinline__ unsigned tiles_of(const Problem& problem) {
  return static_cast<unsigned>((problem.columns + tile_keys - 1) / tile_keys);
}

// A tile by its number among those of all rows, of which a grid has the blocks.
__device__ __forceinline__ Tile tile_of(const Problem& problem, unsigned number) {
  Tile tile;
#if one_row
  tile.number = number;
  tile.row = 0;
#else
  const unsigned tiles = tiles_of(problem), row = number / tiles;
  tile.number = number - row * tiles;
  tile.row = row * static_cast<long long>(problem.columns);
#endif
  tile.begin = tile.number * static_cast<long long>(tile_keys);
  const long long rest = problem.columns - tile.begin;
  tile.count = static_cast<int>(rest < tile_keys ? rest : tile_keys);
  return tile;
}

__device__ __forceinline__ void sort_block(const Arguments& arguments) {
  const Tile tile = tile_of(Problem(arguments), blockIdx.x);
  const long long first = tile.row + tile.begin;
  Shared& shared = *dynamic_shared<Shared>();
  load_tile(reinterpret_cast<const Bits*>(arguments.keys) + first, tile.count, shared);
  Bits* target = static_cast<Bits*>(arguments.target) + first;
  sort_tile(shared, tile.count, WholeTile(), shift_of(target));
  store_tile(shared, tile.count, target);
#if has_values
  Value* values = static_cast<Value*>(arguments.target_values) + first;
#  pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = i * Schedule::threads + threadIdx.x;
    if (at >= tile.count) break;
#  if indices
    values[at] = static_cast<Value>(tile.begin + shared.places[at]);
#  else
    values[at] = __ldg(reinterpret_cast<const Value*>(arguments.values) + first + shared.places[at]);
#  endif
  }
#endif
}

// Two runs that are merged, and the first column of both. Runs of the row have `tile_keys` keys, as many
// times 2 as `level` says.
struct Pair {
  long long begin;
  Run a, b;
};

__device__ __forceinline__ Pair pair_of(const Arguments& arguments, const Problem& problem,
                                        const Tile& tile) {
  const long long length = static_cast<long long>(tile_keys) << arguments.level;
  const int level = arguments.level + 1;
  Pair pair;
  pair.begin = static_cast<long long>(tile.number >> level << level) * tile_keys;
  const long long first = tile.row + pair.begin, rest = problem.columns - pair.begin;
  Run &a = pair.a, &b = pair.b;
  a.count = rest < length ? rest : length;
  b.count = rest < 2 * length ? rest - a.count : length;
  a.keys = static_cast<const Bits*>(arguments.source) + first;
  b.keys = a.keys + a.count;
#if has_values
  a.values = static_cast<const Value*>(arguments.source_values) + first;
  b.values = a.values + a.count;
#endif
  return pair;
}

// Finds the keys of the first run that are ahead of each tile.
__device__ __forceinline__ void divide_runs(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long tiles = problem.rows * tiles_of(problem), divided = divided_tile();
  const Tile tile = tile_of(problem, static_cast<unsigned>(divided < tiles ? divided : tiles - 1));
  const Pair pair = pair_of(arguments, problem, tile);
  const long long of_a = part_ahead(pair.a, pair.b, tile.begin - pair.begin);
  if (divided < tiles && threadIdx.x % part_lanes == 0)
    arguments.parts[divided] = of_a - least_of_first(pair.b, tile.begin - pair.begin);
}

__device__ __forceinline__ void merge_runs(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tile tile = tile_of(problem, blockIdx.x);
  const Pair pair = pair_of(arguments, problem, tile);
  const Run &a = pair.a, &b = pair.b;
  const long long first = tile.row + pair.begin, begin = tile.begin - pair.begin;
  Shared& shared = *dynamic_shared<Shared>();
  const bool is_last = begin + tile.count == a.count + b.count;
  const Part part = part_of(arguments.parts, blockIdx.x, is_last, a, b, begin, tile.count, shared);
  Target target;
  target.keys = static_cast<Bits*>(arguments.target) + first;
#if has_values
  target.values = static_cast<Value*>(arguments.target_values) + first;
#endif
  merge_tile(a, b, begin, tile.count, part, target, shared);
}
