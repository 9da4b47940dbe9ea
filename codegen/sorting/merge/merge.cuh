#pragma once
#include "sorting/merge_tile.cuh"

__device__ __forceinline__ void merge_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long begin = blockIdx.x * static_cast<long long>(tile_keys);
  const long long rest = problem.first + problem.second - begin;
  const int count = static_cast<int>(rest < tile_keys ? rest : tile_keys);
  Run a, b;
  Target target;
  a.keys = reinterpret_cast<const Bits*>(arguments.a);
  b.keys = reinterpret_cast<const Bits*>(arguments.b);
  target.keys = reinterpret_cast<Bits*>(arguments.keys_out);
#if has_values
  a.values = reinterpret_cast<const Value*>(arguments.a_values);
  b.values = reinterpret_cast<const Value*>(arguments.b_values);
  target.values = reinterpret_cast<Value*>(arguments.values_out);
#endif
  a.count = problem.first;
  b.count = problem.second;
  merge_tile(a, b, begin, count, target, *dynamic_shared<Shared>());
}
