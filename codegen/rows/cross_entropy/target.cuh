#pragma once
#include "rows/row.cuh"
// The class that a row belongs to.

__device__ __forceinline__ float not_a_number() { return __int_as_float(0x7fc00000); }

// clang-format off: it counts the braces of both branches
struct RowTarget {
  bool ignored;  // nothing of such a row is read
  bool known;    // whether there is a column of it
  int column;

#if early
  __device__ __forceinline__ RowTarget(const Arguments& arguments, const Problem& problem, long long target) {
#else
  // All threads of a row read it; rows beyond the last one are ignored.
  __device__ __forceinline__ RowTarget(const Arguments& arguments, const Problem& problem,
                                       const RowPart& part) {
    long long target = arguments.ignore_index;
    if (part.row < problem.rows) target = arguments.target[part.row];
#endif
    ignored = target == arguments.ignore_index;
    known = 0 <= target && target < problem.columns;
    column = known ? static_cast<int>(target) : -1;
  }

  // The elements of the row that count.
  __device__ __forceinline__ Span counted(Span columns) const { return ignored ? Span{0, 0} : columns; }
};
// clang-format on

#if early
// What a RowTarget is made of, loaded by all threads of a row; rows beyond the last one are ignored.
__device__ __forceinline__ long long loaded_target(const Arguments& arguments, const Problem& problem,
                                                   const RowPart& part) {
  return part.row < problem.rows ? arguments.target[part.row] : arguments.ignore_index;
}
#endif
