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

#if hold == registers
class RowPair {
 public:
  __device__ __forceinline__ explicit RowPair(const PairSource& source) {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      x_[round] = source.load(source.x, round * row_step);
      dy_[round] = source.load(source.dy, round * row_step);
    }
  }

  // Calls `visit` with each pair of vectors and the number of its round.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) visit(x_[round], dy_[round], round);
  }

 private:
  Vector x_[Problem::rounds];
  Vector dy_[Problem::rounds];
};
#else
class RowPair {
 public:
  __device__ __forceinline__ explicit RowPair(const PairSource& source) : source_(source) {}

  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    constexpr int loads = Schedule::loads_in_flight;
#  pragma unroll 1
    for (int round = 0; round * row_step < source_.columns.end; round += loads) {
      Vector x[loads], dy[loads];
#  pragma unroll
      for (int i = 0; i < loads; ++i) {
        x[i] = source_.load(source_.x, (round + i) * row_step);
        dy[i] = source_.load(source_.dy, (round + i) * row_step);
      }
#  pragma unroll
      for (int i = 0; i < loads; ++i) visit(x[i], dy[i], round + i);
    }
  }

 private:
  PairSource source_;
};
#endif
