#pragma once
#include "rows/row.cuh"
#include "rows/row_floats.cuh"
// Weights and biases: one number for each column, which every row reads again, from L1 or L2.

using Weight = Problem::Weight;

// Those of a vector's columns, of which some are `inside` of the row.
__device__ __forceinline__ void load_weights(float (&weights)[Schedule::vector_width], const Weight* source,
                                             Span inside) {
  if (inside.whole()) {
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; i += Problem::weight_width) {
      row_floats(weights + i, load_global<Problem::weight_width, false>(source + i));
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) {
    weights[i] = 0.0f;
#if partial
    if (inside.has(i)) weights[i] = to_float(source[i]);
#endif
  }
}
