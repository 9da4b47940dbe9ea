#pragma once
#include "rows/row.cuh"
// `RowPair`: the vectors of x and of dy that a thread has of a row, which waits in registers, or is read
// again.

// What is known of a row before it is read: what is subtracted from x, the mean or else the first element,
// and rstd if it is saved. It is loaded with the row, and waits as long.
struct RowStatistics {
  float origin;
  float rstd;
};

// Of a row that has elements for this thread.
__device__ __forceinline__ RowStatistics statistics_of(const Arguments& arguments, long long row,
                                                       bool exists) {
  RowStatistics known = {0.0f, 0.0f};
  if (!exists) return known;
#if saved
  known.rstd = arguments.rstd[row];
#endif
#if saved && centered
  known.origin = arguments.mean[row];
#elif centered
  known.origin = to_float(arguments.x[row * Problem(arguments).ldx]);
#endif
  return known;
}

// Where a thread begins in a row, of which it reads `columns` from there on.
struct PairSource {
  const Element* x;
  const Element* dy;
  Span columns;
  RowStatistics known;

  __device__ __forceinline__ Vector load(const Element* source, int offset) const {
    return load_row_vector<false>(source + offset, columns.from(offset), from_float<Element>(0.0f));
  }
};

#include "rows/row_pair.cuh"
