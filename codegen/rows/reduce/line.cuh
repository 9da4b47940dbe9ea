#pragma once
#include "rows/reduce/operation.cuh"
// The elements that make a result, as the plain kernels take them: one by one.

struct Line {
  ElementPointer source;
  Index count;
  long long step;  // elements from one to the next
};

__device__ __forceinline__ Line line_of(const Arguments& arguments, long long result) {
#if axis != segments
  const Problem problem(arguments);
#endif
#if axis == first
  return {elements_of(arguments) + result, static_cast<Index>(problem.rows), problem.ldx};
#elif axis == segments
  const long long begin = arguments.offsets[result], end = arguments.offsets[result + 1];
  return {elements_of(arguments) + begin, static_cast<Index>(end - begin), 1};
#else
  return {elements_of(arguments) + result * problem.ldx, static_cast<Index>(problem.columns), 1};
#endif
}

#if op == mean
__device__ __forceinline__ Result result_of_line(Partial partial, const Line& line) {
  return result_of(partial, line.count);
}
#elif indexed && axis == segments
__device__ __forceinline__ Result result_of_line(Partial partial, const Line& line) {
  return line.count == 0 ? -1 : result_of(partial);
}
#else
__device__ __forceinline__ Result result_of_line(Partial partial, const Line&) { return result_of(partial); }
#endif
