#pragma once
#include "rows/reduce/line.cuh"
// One thread computes a result, one element after the other.

__device__ __forceinline__ void reduce_serially(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long result = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
#if axis == first
  if (result >= problem.columns) return;
#elif axis == segments
  if (result >= problem.segments) return;
#else
  if (result >= problem.rows) return;
#endif
  const Line line = line_of(arguments, result);
  Partial partial = empty_partial(0);
  for (Index i = 0; i < line.count; ++i) take(partial, line.source[i * line.step], i);
  arguments.y[result] = result_of_line(partial, line);
}
