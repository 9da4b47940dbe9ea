#pragma once
#include "sorting/part_ahead.cuh"

struct Runs {
  Run a, b;
};

__device__ __forceinline__ Runs runs_of(const Arguments& arguments, const Problem& problem) {
  Runs runs;
  runs.a.keys = reinterpret_cast<const Bits*>(arguments.a);
  runs.b.keys = reinterpret_cast<const Bits*>(arguments.b);
#if has_values
  runs.a.values = reinterpret_cast<const Value*>(arguments.a_values);
  runs.b.values = reinterpret_cast<const Value*>(arguments.b_values);
#endif
  runs.a.count = problem.first;
  runs.b.count = problem.second;
  return runs;
}

// Finds the keys of `a` that are ahead of each tile.
__device__ __forceinline__ void divide_runs(const Arguments& arguments) {
  const Problem problem(arguments);
  const Runs runs = runs_of(arguments, problem);
  const long long keys = problem.first + problem.second;
  const long long tile = divided_tile(), begin = tile * tile_keys;
  const long long of_a = part_ahead(runs.a, runs.b, begin < keys ? begin : keys);
  if (begin < keys && threadIdx.x % part_lanes == 0)
    arguments.parts[tile] = of_a - least_of_first(runs.b, begin);
}

__device__ __forceinline__ void merge_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Runs runs = runs_of(arguments, problem);
  const long long tile = blockIdx.x, begin = tile * tile_keys;
  const long long rest = problem.first + problem.second - begin;
  const int count = static_cast<int>(rest < tile_keys ? rest : tile_keys);
  Shared& shared = *dynamic_shared<Shared>();
  const Part part = part_of(arguments.parts, tile, rest <= tile_keys, runs.a, runs.b, begin, count, shared);
  Target target;
  target.keys = reinterpret_cast<Bits*>(arguments.keys_out);
#if has_values
  target.values = reinterpret_cast<Value*>(arguments.values_out);
#endif
  merge_tile(runs.a, runs.b, begin, count, part, target, shared);
}
