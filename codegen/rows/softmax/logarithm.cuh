#pragma once
#include "rows/first_of_row.cuh"
// Logarithms: those of a row's results, and that of its sum of exponentials.

// 1 / temperature, which is more than 0 for an infinite one, too; 1 if x was divided by it before.
__device__ __forceinline__ float natural_factor(const Arguments& arguments) {
#if added
  return 1.0f;
#else
  return fmaxf(1.0f / arguments.temperature, 1.2e-38f);
#endif
}

// Writes a row, vector by vector.
struct WriteLogSoftmax {
  Element* y;  // the thread's first element of the row
  Span columns;
  float factor, max, log_sum;

  __device__ __forceinline__ void operator()(const Vector& vector, int offset) const {
    float x[Schedule::vector_width];
    to_floats(x, vector.elements);
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] = factor * (x[i] - max) - log_sum;
    Vector result;
    from_floats(result.elements, x);
    store_row_vector(y + offset, result, columns.from(offset));
  }
};

// What a row is written by, once its sum is known, whose logarithm may be stored.
__device__ __forceinline__ SoftmaxSum finished(const Arguments& arguments, const RowPart& part,
                                               SoftmaxSum all) {
#if lse
  // An infinite maximum is its own: infinity - infinity is NaN.
  const bool infinite = fabsf(all.max) == infinity();
  const float logarithm = infinite ? all.max : natural_factor(arguments) * all.max + logf(all.sum);
  if (is_first_of_row(part)) arguments.lse[part.row] = logarithm;
#endif
#if zero_rows
  if (all.max == -infinity()) return {0.0f, infinity()};  // for 0 or -infinity rather than NaN
#endif
  return all;
}
