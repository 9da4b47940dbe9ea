#pragma once
#include "rows/row.cuh"
// A row held in registers: all of its loads are in flight at once.

class RowValues {
 public:
  // Of the row that begins at `row`, `inside` columns are read; the others count as `fill`.
  __device__ __forceinline__ RowValues(const Element* row, int column, int /*columns*/, int inside,
                                       Element fill)
      : column_(column) {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      const int offset = column + round * row_step;
      vectors_[round] = load_row_vector<true>(row + offset, inside - offset, fill);
    }
  }

  // Calls `visit` with each vector and the column of its first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) visit(vectors_[round], column_ + round * row_step);
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) const {
    for_each(visit);
  }

 private:
  int column_;
  Vector vectors_[Problem::rounds];
};
