#pragma once
#include "rows/row.cuh"
// A row held in shared memory, where each thread reads nothing but what it wrote.

class RowValues {
 public:
  // Of the row that begins at `row`, `inside` columns are read; the others count as `fill`.
  __device__ __forceinline__ RowValues(const Element* row, int column, int /*columns*/, int inside,
                                       Element fill)
      : column_(column),
        vectors_(reinterpret_cast<Vector*>(dynamic_shared<unsigned char>() + Problem::held_at) +
                 threadIdx.x) {
#pragma unroll 1
    for (int first = 0; first < Problem::rounds; first += Schedule::loads_in_flight) {
      Vector loaded[Schedule::loads_in_flight];
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        const int offset = column + (first + i) * row_step;
        loaded[i] = load_row_vector<true>(row + offset, inside - offset, fill);
      }
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        if (first + i < Problem::rounds) vectors_[(first + i) * Schedule::threads].bits = loaded[i].bits;
      }
    }
  }

  // Calls `visit` with each vector and the column of its first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#pragma unroll 4
    for (int round = 0; round < Problem::rounds; ++round) {
      Vector vector;
      vector.bits = vectors_[round * Schedule::threads].bits;
      visit(vector, column_ + round * row_step);
    }
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) const {
    for_each(visit);
  }

 private:
  int column_;
  Vector* vectors_;
};
