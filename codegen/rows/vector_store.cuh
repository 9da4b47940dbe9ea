#pragma once
#include "cuda/packed.cuh"

// Stores the elements of a vector that are inside of the row.
template <typename Number>
__device__ __forceinline__ void store_row_vector(Number* target,
                                                 const Packed<Number, Schedule::vector_width>& vector,
                                                 Span inside) {
#if !scattered
  if (inside.whole()) {
    store_global<Schedule::streaming>(target, vector);
    return;
  }
#endif
#if scattered || ragged || skewed
#  pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) {
    if (inside.has(i)) target[i] = vector.elements[i];
  }
#endif
}
