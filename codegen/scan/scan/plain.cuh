#pragma once
#include "scan/scan/carry.cuh"
// Rows element by element, for kernels without a schedule.

// Of element `i` in the order of the scan, its column.
__device__ __forceinline__ long long column_of(const Problem& problem, long long i) {
#if reverse
  return problem.columns - 1 - i;
#else
  return i;
#endif
}

// Whether a segment begins at a column in the order of the scan: from the end, that is ahead of the next one.
__device__ __forceinline__ bool begins_at(const Arguments& arguments, const Problem& problem,
                                          long long column) {
#if reverse
  ++column;
#endif
#if flags
  return column < problem.columns && arguments.flags[column] != 0;
#elif offsets
  long long low = 0, high = problem.segments;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (arguments.offsets[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return arguments.offsets[low] == column;
#else
  return false;
#endif
}

__device__ __forceinline__ Carry carry_of(const Arguments& arguments, const Problem& problem,
                                          long long column, Number number) {
#if segmented
  return {number, begins_at(arguments, problem, column)};
#else
  return {number};
#endif
}

// `first` is what the scan begins with.
__device__ __forceinline__ Number result_of(Number first, Carry before, Carry own) {
#if exclusive && segmented
  if (own.has_head) return first;
#endif
#if exclusive
  const Number number = before.number;
#else
  const Number number = Join()(before, own).number;
#endif
#if init
  return combine(first, number);
#else
  return number;
#endif
}

// One thread a row.
__device__ __forceinline__ void scan_serially(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= problem.rows) return;
  const Element* x = arguments.x + row * problem.ldx;
  Result* y = arguments.y + row * problem.ldy;
  Carry before = nothing();
  for (long long i = 0; i < problem.columns; ++i) {
    const long long column = column_of(problem, i);
    const Carry own = carry_of(arguments, problem, column, number_of(x[column]));
    y[column] = rounded(result_of(first_number(arguments), before, own));
    before = Join()(before, own);
  }
}
