#pragma once
#include "rows/row.cuh"
// A row that is read again each time, from L2 or device memory.

class RowValues {
 public:
  // `first` is the thread's first element of the row; from there on, there are `columns` of which those
  // `inside` are read, and others count as `fill`.
  __device__ __forceinline__ RowValues(const Element* first, Span columns, Span inside, Element fill)
      : first_(first), end_(columns.end), inside_(inside), fill_(fill) {}

  // Calls `visit` with each vector and its offset from the first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
    each<false>(visit);
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    each<true>(visit);
  }

 private:
  template <bool last, class Visit>
  __device__ __forceinline__ void each(Visit visit) {
#pragma unroll 1
    for (int begin = 0; begin < end_; begin += Schedule::loads_in_flight * row_step) {
      const Element* source = first_ + begin;
      const Span inside = inside_.from(begin);
      Vector loaded[Schedule::loads_in_flight];
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        loaded[i] = load_row_vector<last>(source + i * row_step, inside.from(i * row_step), fill_);
      }
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) visit(loaded[i], begin + i * row_step);
    }
  }

  const Element* first_;
  int end_;
  Span inside_;
  Element fill_;
};
