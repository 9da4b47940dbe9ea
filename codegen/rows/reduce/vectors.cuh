#pragma once
#include "cuda/packed.cuh"
// Loads of whole vectors of a row, and of those that stick out of it.

constexpr int vector_width = Schedule::vector_width;
using Vector = Packed<Element, vector_width>;

// A vector of which `inside` elements exist: none if that is 0 or less, all if it is the width or more. The
// others are zero bits.
__device__ __forceinline__ Vector load_inside(const Element* source, Index inside) {
  if (inside >= vector_width) return load_global<vector_width, Schedule::streaming>(source);
  Vector vector{};
  if constexpr (Problem::ragged) {
#pragma unroll
    for (int i = 0; i < vector_width - 1; ++i) {
      if (i < inside) vector.elements[i] = source[i];
    }
  }
  return vector;
}
