#pragma once
#include "rows/norm/moments.cuh"
// Mean and sum of squares in one pass over what a thread has of a row, as differences from an origin of its
// own: the mean of its first vector. That is one of few, at most 16, so of the sum of squares about it little
// cancels: all but one in 17 if it is far from all others.

__device__ __forceinline__ int count_of(Span inside) {
  return max(0, min(inside.end, Schedule::vector_width) - max(inside.begin, 0));
}

// The mean of the elements of a vector that are inside of the row; `origin` without any, or if it is not
// finite.
__device__ __forceinline__ float mean_of(const Vector& vector, Span inside, float origin) {
  float x[Schedule::vector_width];
  differences(x, vector, origin);
  const float sum = sum_of(x, inside, [](float value) { return value; });
  const float mean = origin + sum / static_cast<float>(count_of(inside));
  return fabsf(mean) < infinity() ? mean : origin;
}

// Of differences from `origin`.
__device__ __forceinline__ Moments moments_of_thread(NormValues& values, float origin, Span columns) {
  float own = origin;
  int count = 0;
  RunningSum sum = {0.0f, 0.0f}, squares = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    const Span inside = columns.from(offset);
#if skewed
    if (count == 0) own = mean_of(vector, inside, origin);
#else
    if (offset == 0) own = mean_of(vector, inside, origin);
#endif
    count += count_of(inside);
    float x[Schedule::vector_width];
    differences(x, vector, own);
    add_term(sum, sum_of(x, inside, [](float value) { return value; }));
    add_term(squares, sum_of(x, inside, [](float value) { return value * value; }));
  });
  if (count == 0) return {0.0f, 0.0f, 0.0f};
  const float elements = static_cast<float>(count), mean = sum.sum / elements;
  const float left = fmaf(-sum.sum, mean, squares.sum);
  return {elements, own - origin + mean, left < 0.0f ? 0.0f : left};  // NaN stays NaN
}
