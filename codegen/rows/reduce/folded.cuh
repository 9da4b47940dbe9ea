#pragma once
#include "rows/reduce/operation.cuh"
#include "rows/reduce/vectors.cuh"
// Rows that begin between vectors: `Problem::fold` of them, one after the other, make a row that does not.
// Each of its columns is reduced, and then those that are one column of the matrix are combined.

struct FoldedRows {
  long long rows, columns, ldx;  // whole rows
  long long elements;

  __device__ __forceinline__ explicit FoldedRows(const Problem& problem)
      : rows(problem.rows / Problem::fold),
        columns(problem.columns * Problem::fold),
        ldx(columns),
        elements(problem.rows * problem.columns) {}
};

// Vectors of `loads_in_flight` rows, each `step` elements behind the one before, all whole.
__device__ __forceinline__ void take_whole_vectors(Partial (&partials)[vector_width], ElementPointer source,
                                                   long long step) {
  Vector vectors[Schedule::loads_in_flight];
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    vectors[load] = load_global<vector_width, Schedule::streaming>(source + load * step);
  }
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
#pragma unroll
    for (int i = 0; i < vector_width; ++i) take(partials[i], vectors[load].elements[i], 0);
  }
}

// The same of which only the first `left` elements from `source` on exist.
__device__ __forceinline__ void take_last_vectors(Partial (&partials)[vector_width], ElementPointer source,
                                                  long long step, long long left) {
  Vector vectors[Schedule::loads_in_flight];
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    const long long inside = left - load * step;
    vectors[load] = load_inside(source + load * step, inside < vector_width ? inside : vector_width);
  }
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
#pragma unroll
    for (int i = 0; i < vector_width; ++i) {
      if (i < left - load * step) take(partials[i], vectors[load].elements[i], 0);
    }
  }
}
