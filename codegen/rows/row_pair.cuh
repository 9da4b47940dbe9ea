#pragma once

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
