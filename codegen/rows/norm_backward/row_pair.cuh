#pragma once
#include "rows/row.cuh"
#if hold == shared
#  include "cuda/async_copy.cuh"
#  include "cuda/opaque.cuh"
#endif
// `RowPair`: the vectors of x and of dy that a thread has of a row, which waits in registers or in shared
// memory, or is read again.

// Where a thread begins in a row, of which it reads `columns` from there on.
struct PairSource {
  const Element* x;
  const Element* dy;
  Span columns;

  __device__ __forceinline__ Vector load(const Element* source, int offset) const {
    return load_row_vector<false>(source + offset, columns.from(offset), from_float<Element>(0.0f));
  }
};

#if hold == shared
// Each thread reads nothing but what it copied, so no barrier is needed.
class RowPair {
 public:
  static constexpr int vectors = 2 * Problem::rounds * Schedule::threads;

  // `first` is this thread's vector of so many of the block.
  __device__ __forceinline__ explicit RowPair(Vector* first) : first_(first) {}

  // Starts to copy a row; the thread commits and waits.
  __device__ __forceinline__ void copy(const PairSource& source) const {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      copy_vector_of(source, source.x, 2 * round, round * row_step);
      copy_vector_of(source, source.dy, 2 * round + 1, round * row_step);
    }
  }

  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      visit(vector(2 * round), vector(2 * round + 1), round);
    }
  }

 private:
  __device__ __forceinline__ void copy_vector_of(const PairSource& source, const Element* first, int index,
                                                 int offset) const {
    Vector* target = first_ + index * Schedule::threads;
    if (source.columns.from(offset).whole()) {
      async_copy<sizeof(Vector)>(target, first + offset);
    } else {
      target->bits = source.load(first, offset).bits;
    }
  }

  __device__ __forceinline__ Vector vector(int index) const {
    Vector vector;
    vector.bits = first_[index * Schedule::threads].bits;
    make_words_opaque(vector);  // or else a 16-bit element is a load
    return vector;
  }

  Vector* first_;
};
#else
#  include "rows/row_pair.cuh"
#endif
