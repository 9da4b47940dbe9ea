#pragma once
#include "cuda/packed.cuh"
// Loads of whole vectors of a row, and of those that stick out of it.

constexpr int vector_width = Schedule::vector_width;
#if arrays == 2
struct Vector {
  struct Elements {
    Packed<Problem::Element, vector_width> x, other;
    __device__ __forceinline__ Element operator[](int i) const { return {x.elements[i], other.elements[i]}; }
  } elements;
};

template <int width, bool streaming>
__device__ __forceinline__ Vector load_global(ElementPointer source) {
  return {{load_global<width, streaming>(source.x), load_global<width, streaming>(source.other)}};
}
#else
using Vector = Packed<Element, vector_width>;
#endif

// A vector of which `inside` elements exist: none if that is 0 or less, all if it is the width or more. The
// others are zero bits.
__device__ __forceinline__ Vector load_inside(ElementPointer source, Index inside) {
  if (inside >= vector_width) return load_global<vector_width, Schedule::streaming>(source);
  Vector vector{};
  if constexpr (Problem::ragged) {
#pragma unroll
    for (int i = 0; i < vector_width - 1; ++i) {
#if arrays == 2
      if (i < inside) vector.elements.x.elements[i] = source.x[i];
      if (i < inside) vector.elements.other.elements[i] = source.other[i];
#else
      if (i < inside) vector.elements[i] = source[i];
#endif
    }
  }
  return vector;
}
