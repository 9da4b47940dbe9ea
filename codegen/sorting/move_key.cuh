#pragma once
#include "sorting/merge_path.cuh"

#if has_values
using Value = Problem::Value;
#endif

// A key and its value go from one column to another in a pass; `row` is the number of the row's first key.
__device__ __forceinline__ void move_key(const Arguments& arguments, long long row, long long from,
                                         long long to) {
  static_cast<Bits*>(arguments.target)[row + to] = static_cast<const Bits*>(arguments.source)[row + from];
#if has_values
  const Value* values = static_cast<const Value*>(arguments.source_values);
  Value* target = static_cast<Value*>(arguments.target_values) + row;
#  if indices
  target[to] = values == nullptr ? static_cast<Value>(from) : values[row + from];
#  else
  target[to] = values[row + from];
#  endif
#endif
}
