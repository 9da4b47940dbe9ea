#pragma once
#include "cuda/async_copy.cuh"
#include "rows/row.cuh"
// A row held in shared memory, where each thread reads nothing but what it copied: all copies are in flight
// at once, and no barrier is needed.

class RowValues {
 public:
  // `first` is the thread's first element of the row; from there on, those `inside` are read, and others
  // count as `fill`.
  __device__ __forceinline__ RowValues(const Element* first, Span /*columns*/, Span inside, Element fill)
      : vectors_(reinterpret_cast<Vector*>(dynamic_shared<unsigned char>() + Problem::held_at) +
                 threadIdx.x) {
#pragma unroll 4
    for (int round = 0; round < Problem::rounds; ++round) copy(round, first, inside, fill);
#if skewed
    if (inside.begin > 0) vectors_->bits = load_row_vector<true>(first, inside, fill).bits;
#endif
    async_commit();
    async_wait<0>();
  }

  // Calls `visit` with each vector and its offset from the first element; some may lie beyond the row.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#pragma unroll 4
    for (int round = 0; round < Problem::rounds; ++round) visit(vector(round), round * row_step);
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    for_each(visit);
  }

 private:
  __device__ __forceinline__ Vector vector(int round) const {
    Vector vector;
    vector.bits = vectors_[round * Schedule::threads].bits;
    return vector;
  }

  __device__ __forceinline__ void copy(int round, const Element* first, Span inside, Element fill) {
#if skewed
    // A vector that the row begins within is loaded element by element: once all copies are on their way.
    if (round == 0 && inside.begin > 0) return;
#endif
    const int offset = round * row_step;
    Vector* target = vectors_ + round * Schedule::threads;
    if (inside.from(offset).whole()) {
      async_copy<sizeof(Vector)>(target, first + offset);
    } else {
      target->bits = load_row_vector<true>(first + offset, inside.from(offset), fill).bits;
    }
  }

  Vector* vectors_;
};
