#pragma once
#include "rows/row.cuh"
// A row held in shared memory, where each thread reads nothing but what it wrote.

class RowValues {
 public:
  // `first` is the thread's first element of the row; from there on, `inside` are read, and others count as
  // `fill`.
  __device__ __forceinline__ RowValues(const Element* first, int /*columns*/, int inside, Element fill)
      : vectors_(reinterpret_cast<Vector*>(dynamic_shared<unsigned char>() + Problem::held_at) +
                 threadIdx.x) {
#pragma unroll 1
    for (int round = 0; round < Problem::rounds; round += Schedule::loads_in_flight) {
      Vector loaded[Schedule::loads_in_flight];
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        const int offset = (round + i) * row_step;
        loaded[i] = load_row_vector<true>(first + offset, inside - offset, fill);
      }
#pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        if (round + i < Problem::rounds) vectors_[(round + i) * Schedule::threads].bits = loaded[i].bits;
      }
    }
  }

  // Calls `visit` with each vector and its offset from the first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#pragma unroll 4
    for (int round = 0; round < Problem::rounds; ++round) {
      Vector vector;
      vector.bits = vectors_[round * Schedule::threads].bits;
      visit(vector, round * row_step);
    }
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    for_each(visit);
  }

 private:
  Vector* vectors_;
};
