#pragma once  // Sums of terms of a row's elements.
#include "rows/row.cuh"
#include "rows/running_sum.cuh"

// The sum of `term` of each element that is inside of the row.
template <class Term>
__device__ __forceinline__ float sum_of(const float (&x)[Schedule::vector_width], Span inside, Term term) {
  float sum = 0.0f;
  if (inside.whole()) {
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) sum += term(x[i]);
    return sum;
  }
#if partial
#  pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) {
    if (inside.has(i)) sum += term(x[i]);
  }
#endif
  return sum;
}

// An infinite sum stays infinite, and does not become NaN by what it is compensated for.
__device__ __forceinline__ void add_term(RunningSum& sum, float term) {
  sum.add(term);
#if hold != registers
  if (!(fabsf(sum.lost) < infinity())) sum.lost = 0.0f;
#endif
}
