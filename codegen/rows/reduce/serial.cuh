#pragma once
#include "rows/reduce/operation.cuh"
// One thread computes a result, one element after the other.

__device__ __forceinline__ void reduce_serially(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long result = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
#if axis == first
  if (result >= problem.columns) return;
  const Element* source = arguments.x + result;
  const Index count = problem.rows;
  const long long step = problem.ldx;
#else
  if (result >= problem.rows) return;
  const Element* source = arguments.x + result * problem.ldx;
  const Index count = problem.columns;
  const long long step = 1;
#endif
  Partial partial = empty_partial(0);
  for (Index i = 0; i < count; ++i) take(partial, source[i * step], i);
  arguments.y[result] = result_of(partial);
}
