#pragma once
#include "rows/norm/values.cuh"
#if skewed
#  include "rows/first_of_row.cuh"
#endif
#include "rows/row_floats.cuh"
#include "rows/running_sum.cuh"
// What a row is normalised by. A centered row is seen as differences from its first element, which are exact
// where it matters: a mean of 10^4 costs a standard deviation of 10^-2 no digit.

struct Statistics {
  float origin;
  float mean;  // mean of the differences from the origin
  float rstd;
};

// The elements of a vector, as differences from the origin.
__device__ __forceinline__ void differences(float (&x)[Schedule::vector_width], const Vector& vector,
                                            float origin) {
  row_floats(x, vector);
#if centered
#  pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) x[i] -= origin;
#endif
}

#include "rows/terms.cuh"

#if centered
// The first element of the row; 0 in all threads but its first one.
__device__ __forceinline__ float first_element(const Arguments& arguments, const Problem& problem,
                                               const RowPart& part) {
#  if skewed && residual
  // Of the sum, a thread may read only what it has stored: the row's first thread may begin vectors ahead.
  const Span columns = part.columns;
  const bool has_first =
      columns.begin >= 0 && columns.begin < columns.end && columns.begin % row_step < Schedule::vector_width;
#  elif skewed
  const bool has_first = is_first_of_row(part);
#  else
  const bool has_first = part.column <= 0 && part.columns.end > 0;
#  endif
#  if residual
  return has_first ? to_float(arguments.sum[part.row * problem.ldx]) : 0.0f;
#  else
  return has_first ? to_float(arguments.x[part.row * problem.ldx]) : 0.0f;
#  endif
}
#endif

// The origin comes from the row's first thread where another one could read it too late: y may be x, the sum
// may be the residual, and no load is ordered ahead of what another block stores.
#if !centered
__device__ __forceinline__ float origin_of(const Arguments&, const Problem&, const RowPart&) { return 0.0f; }
#elif threads_per_row <= 32 && cluster == 1
constexpr int first_reduction = 0;
__device__ __forceinline__ float origin_of(const Arguments& arguments, const Problem& problem,
                                           const RowPart& part) {
#  if skewed && residual
  const int thread = threadIdx.x % Schedule::threads_per_row;
  // The elements that the first thread begins ahead of the row.
  const int ahead = part.columns.begin + thread * Schedule::vector_width;
  const int from = ahead / Schedule::vector_width % Schedule::threads_per_row;
  return __shfl_sync(0xffffffffu, first_element(arguments, problem, part), from, Schedule::threads_per_row);
#  else
  return __shfl_sync(0xffffffffu, first_element(arguments, problem, part), 0, Schedule::threads_per_row);
#  endif
}
#elif residual || cluster > 1
constexpr int first_reduction = 1;
__device__ __forceinline__ float origin_of(const Arguments& arguments, const Problem& problem,
                                           const RowPart& part) {
  return reduce_over_row<0>(first_element(arguments, problem, part), Sum());
}
#else
// All threads may load it: those that store wait for them in a reduction.
constexpr int first_reduction = 0;
__device__ __forceinline__ float origin_of(const Arguments& arguments, const Problem& problem,
                                           const RowPart& part) {
  return part.columns.end > 0 ? to_float(arguments.x[part.row * problem.ldx]) : 0.0f;
}
#endif

#if !centered
constexpr int reductions = 1;

__device__ __forceinline__ Statistics statistics_of(NormValues& values, float origin, int count, Span columns,
                                                    float eps) {
  RunningSum squares = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    differences(x, vector, origin);
    add_term(squares, sum_of(x, columns.from(offset), [](float value) { return value * value; }));
  });
  const float total = reduce_over_row<0>(squares.sum, Sum());
  return {origin, 0.0f, rsqrtf(total / static_cast<float>(count) + eps)};
}
#elif passes == two
constexpr int reductions = first_reduction + 2;

__device__ __forceinline__ Statistics statistics_of(NormValues& values, float origin, int count, Span columns,
                                                    float eps) {
  const float elements = static_cast<float>(count);
  RunningSum sum = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    differences(x, vector, origin);
    add_term(sum, sum_of(x, columns.from(offset), [](float value) { return value; }));
  });
  const float mean = reduce_over_row<first_reduction>(sum.sum, Sum()) / elements;
  RunningSum squares = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    differences(x, vector, origin);
    const auto square = [&](float value) { return (value - mean) * (value - mean); };
    add_term(squares, sum_of(x, columns.from(offset), square));
  });
  const float variance = reduce_over_row<first_reduction + 1>(squares.sum, Sum()) / elements;
  return {origin, mean, rsqrtf(variance + eps)};
}
#else
#  include "rows/norm/moments.cuh"
#  if passes == shifted
#    include "rows/norm/shifted.cuh"
#  else
__device__ __forceinline__ Moments moments_of_thread(NormValues& values, float origin, Span columns) {
  Moments moments = {0.0f, 0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    differences(x, vector, origin);
    const Moments more = moments_of(x, columns.from(offset));
    if (more.count > 0.0f) moments = MergeMoments()(moments, more);
  });
  return moments;
}
#  endif
constexpr int reductions = first_reduction + 1;

__device__ __forceinline__ Statistics statistics_of(NormValues& values, float origin, int count, Span columns,
                                                    float eps) {
  const Moments moments =
      reduce_over_row<first_reduction>(moments_of_thread(values, origin, columns), MergeMoments());
  return {origin, moments.mean, rsqrtf(moments.squares / static_cast<float>(count) + eps)};
}
#endif
