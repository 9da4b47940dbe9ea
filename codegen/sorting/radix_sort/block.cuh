#pragma once
#include "sorting/radix_sort/in_block.cuh"
// A row that is a tile, sorted by one block.

#if has_values
using Result = Problem::Result;
#endif

__device__ __forceinline__ void sort_row(const Arguments& arguments) {
  const Problem problem(arguments);
  const int count = static_cast<int>(problem.columns);
  const long long row = blockIdx.x * problem.columns;
  BlockKeys own;
  own.load(reinterpret_cast<const Bits*>(arguments.keys) + row, count);
  own.sort(*dynamic_shared<BlockMemory>(), count, Problem::begin_bit, Problem::end_bit);
#if writes_keys
  Bits* target = reinterpret_cast<Bits*>(arguments.keys_out) + row;
#endif
#if has_values
  Result* values_out = reinterpret_cast<Result*>(arguments.values_out) + row;
#  if !indices
  const Result* values = reinterpret_cast<const Result*>(arguments.values) + row;
#  endif
#endif
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int column = first_key() + i * 32;
    if (column >= count) break;
#if writes_keys
    target[column] = own.keys[i];
#endif
#if indices
    values_out[column] = static_cast<Result>(own.columns[i]);
#elif has_values
    values_out[column] = values[own.columns[i]];
#endif
  }
}
