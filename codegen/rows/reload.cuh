#pragma once
#include "rows/row.cuh"
// A row that is read again each time, from L2 or device memory.

class RowValues {
 public:
  // Of the row that begins at `row` and has so many columns, `inside` are read; the others count as `fill`.
  __device__ __forceinline__ RowValues(const Element* row, int column, int columns, int inside, Element fill)
      : row_(row), column_(column), columns_(columns), inside_(inside), fill_(fill) {}

  // Calls `visit` with each vector and the column of its first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    each<false>(visit);
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) const {
    each<true>(visit);
  }

 private:
  template <bool last, class Visit>
  __device__ __forceinline__ void each(Visit visit) const {
#pragma unroll 1
    for (int first = column_; first < columns_; first += Schedule::loads_in_flight * row_step) {
      Vector loaded[Schedule::loads_in_flight];
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        const int offset = first + i * row_step;
        loaded[i] = load_row_vector<last>(row_ + offset, inside_ - offset, fill_);
      }
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) visit(loaded[i], first + i * row_step);
    }
  }

  const Element* row_;
  int column_, columns_, inside_;
  Element fill_;
};
