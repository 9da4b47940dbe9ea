#pragma once
#include "sorting/sort_tile.cuh"
// Blocks sort tiles of rows; then each launch merges pairs of runs, which become twice as long.

struct Tile {
  long long row, begin;  // the row's first key, and the tile's in the row
  int count;
};

__device__ __forceinline__ Tile tile_of(const Problem& problem) {
  const long long tiles = (problem.columns + tile_keys - 1) / tile_keys;
  Tile tile;
  tile.row = blockIdx.x / tiles * problem.columns;
  tile.begin = blockIdx.x % tiles * tile_keys;
  const long long rest = problem.columns - tile.begin;
  tile.count = static_cast<int>(rest < tile_keys ? rest : tile_keys);
  return tile;
}

__device__ __forceinline__ void sort_block(const Arguments& arguments) {
  const Tile tile = tile_of(Problem(arguments));
  const long long first = tile.row + tile.begin;
  Shared& shared = *dynamic_shared<Shared>();
  load_tile(reinterpret_cast<const Bits*>(arguments.keys) + first, tile.count, shared);
  sort_tile(shared, tile.count, WholeTile());
  Bits* keys = static_cast<Bits*>(arguments.target) + first;
#if has_values
  Value* values = static_cast<Value*>(arguments.target_values) + first;
#endif
  for (int at = threadIdx.x; at < tile.count; at += Schedule::threads) {
    keys[at] = shared.keys[at];
#if indices
    values[at] = static_cast<Value>(tile.begin + shared.places[at]);
#elif has_values
    values[at] = reinterpret_cast<const Value*>(arguments.values)[first + shared.places[at]];
#endif
  }
}

// Runs of the row have `tile_keys` keys, as many times 2 as `level` says.
__device__ __forceinline__ void merge_runs(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tile tile = tile_of(problem);
  const long long length = static_cast<long long>(tile_keys) << arguments.level;
  const long long pair = tile.begin / (2 * length) * (2 * length), rest = problem.columns - pair;
  const long long first = tile.row + pair;
  Run a, b;
  Target target;
  a.count = rest < length ? rest : length;
  b.count = rest < 2 * length ? rest - a.count : length;
  a.keys = static_cast<const Bits*>(arguments.source) + first;
  b.keys = a.keys + a.count;
  target.keys = static_cast<Bits*>(arguments.target) + first;
#if has_values
  a.values = static_cast<const Value*>(arguments.source_values) + first;
  b.values = a.values + a.count;
  target.values = static_cast<Value*>(arguments.target_values) + first;
#endif
  merge_tile(a, b, tile.begin - pair, tile.count, target, *dynamic_shared<Shared>());
}
