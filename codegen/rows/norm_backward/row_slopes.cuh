#pragma once
#include "rows/norm_backward/column_weights.cuh"
#include "rows/norm_backward/row_pairs.cuh"
#include "rows/row_floats.cuh"
#if hold == reload
#  include "rows/running_sum.cuh"
#endif
// The sums over a row that its gradients need. Statistics of the forward pass save a reduction where the mean
// is subtracted, and a pass over the row.

#if hold == reload
using RowSum = RunningSum;
#else
// A row that is held has so few vectors of a thread that a plain sum does.
struct RowSum {
  float sum;

  __device__ __forceinline__ void add(float term) { sum += term; }
};
#endif

// Two sums at once.
struct SumPair {
  float first;
  float second;
};
struct AddPairs {
  __device__ __forceinline__ SumPair operator()(SumPair a, SumPair b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

// Over the threads of a row; calls that follow each other have other turns, of which there are two.
__device__ __forceinline__ SumPair add_over_row(RowSum first, RowSum second, int turn) {
  SumPair* scratch = reinterpret_cast<SumPair*>(slots_of(turn));
  return reduce_row<Schedule::threads_per_row>(SumPair{first.sum, second.sum}, AddPairs(), scratch);
}
__device__ __forceinline__ float add_over_row(RowSum sum, int turn) {
  return reduce_row<Schedule::threads_per_row>(sum.sum, Sum(), reinterpret_cast<float*>(slots_of(turn)));
}

// What a thread knows of its columns of a row.
struct RowColumns {
  const ColumnWeights& weights;
  Span columns;

  // g = dy · (weight + weight_offset) of a vector, of which dy is 0 outside of the row.
  __device__ __forceinline__ void weigh(float (&g)[Schedule::vector_width], const Vector& dy,
                                        int round) const {
    row_floats(g, dy);
    weights.apply(g, round);
  }

  // x - origin of a vector. Outside of the row it is 0 where it is added up without a factor g, which is 0.
  __device__ __forceinline__ void differences(float (&x)[Schedule::vector_width], const Vector& vector,
                                              float origin, int round) const {
    row_floats(x, vector);
#if centered
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] -= origin;
#endif
#if centered && !saved
    const Span inside = columns.from(round * row_step);
    if (inside.whole()) return;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      if (!inside.has(i)) x[i] = 0.0f;
    }
#endif
  }
};

// What the elements of a row have in common. `mean` is that of x - origin.
struct RowSlopes {
  float mean;
  float rstd;
  float mean_g;  // mean of g, or 0
  float slope;   // mean of g · x̂
};

#if saved
__device__ __forceinline__ RowSlopes slopes_of(const LoadedRow& row, const RowColumns& mine, float share,
                                               float, int turn) {
  RowSum sum_g = {}, products = {};
  row.pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, row.known.origin, round);
    mine.weigh(g, dy, round);
    float part_g = 0.0f, product = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      part_g += g[i];
      product += g[i] * difference[i];
    }
    sum_g.add(part_g);
    products.add(product);
  });
#  if centered
  const SumPair found = add_over_row(sum_g, products, turn);
  return {0.0f, row.known.rstd, found.first * share, row.known.rstd * (found.second * share)};
#  else
  const float found = add_over_row(products, turn);
  return {0.0f, row.known.rstd, 0.0f, row.known.rstd * (found * share)};
#  endif
}
#elif centered
__device__ __forceinline__ RowSlopes slopes_of(const LoadedRow& row, const RowColumns& mine, float share,
                                               float eps, int) {
  RowSum sum = {}, sum_g = {};
  row.pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, row.known.origin, round);
    mine.weigh(g, dy, round);
    float part = 0.0f, part_g = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) part += difference[i], part_g += g[i];
    sum.add(part);
    sum_g.add(part_g);
  });
  const SumPair sums = add_over_row(sum, sum_g, 0);
  const float mean = sums.first * share;
  RowSum squares = {}, products = {};
  row.pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, row.known.origin, round);
    mine.weigh(g, dy, round);
    const Span inside = mine.columns.from(round * row_step);
    float square = 0.0f, product = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      const float centered = inside.whole() || inside.has(i) ? difference[i] - mean : 0.0f;
      square += centered * centered;
      product += g[i] * centered;
    }
    squares.add(square);
    products.add(product);
  });
  const SumPair found = add_over_row(squares, products, 1);
  const float rstd = rsqrtf(found.first * share + eps);
  return {mean, rstd, sums.second * share, rstd * (found.second * share)};
}
#else
__device__ __forceinline__ RowSlopes slopes_of(const LoadedRow& row, const RowColumns& mine, float share,
                                               float eps, int turn) {
  RowSum squares = {}, products = {};
  row.pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, 0.0f, round);
    mine.weigh(g, dy, round);
    float square = 0.0f, product = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      square += difference[i] * difference[i];
      product += g[i] * difference[i];
    }
    squares.add(square);
    products.add(product);
  });
  const SumPair found = add_over_row(squares, products, turn);
  const float rstd = rsqrtf(found.first * share + eps);
  return {0.0f, rstd, 0.0f, rstd * (found.second * share)};
}
#endif
