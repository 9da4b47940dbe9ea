#pragma once
#include "cuda/opaque.cuh"
#include "rows/row.cuh"
// A row held in registers: all of its loads are in flight at once.

class RowValues {
 public:
  // `first` is the thread's first element of the row; from there on, those `inside` are read, and others
  // count as `fill`. Addresses differ from it by constants.
  __device__ __forceinline__ RowValues(const Element* first, Span /*columns*/, Span inside, Element fill) {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      const int offset = round * row_step;
      vectors_[round] = load_row_vector<true>(first + offset, inside.from(offset), fill);
    }
  }

  // Calls `visit` with each vector and its offset from the first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      // Each pass converts the vector anew: floats of one pass, kept for the next, would take twice the
      // registers.
      make_words_opaque(vectors_[round]);
      visit(vectors_[round], round * row_step);
    }
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    for_each(visit);
  }

 private:
  Vector vectors_[Problem::rounds];
};
