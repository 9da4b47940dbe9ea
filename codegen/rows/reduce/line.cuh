#pragma once
#include "rows/reduce/operation.cuh"
// The elements that make a result, as the plain kernels take them: one by one.

struct Line {
  ElementPointer source;
  Index count;
  long long step;  // elements from one to the next
};

__device__ __forceinline__ Line line_of(const Arguments& arguments, long long result) {
  const Problem problem(arguments);
#if axis == first
  return {elements_of(arguments) + result, static_cast<Index>(problem.rows), problem.ldx};
#else
  return {elements_of(arguments) + result * problem.ldx, static_cast<Index>(problem.columns), 1};
#endif
}

#if op == mean
__device__ __forceinline__ Result result_of_line(Partial partial, const Line& line) {
  return result_of(partial, line.count);
}
#else
__device__ __forceinline__ Result result_of_line(Partial partial, const Line&) { return result_of(partial); }
#endif
