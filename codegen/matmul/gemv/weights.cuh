#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/read_once.cuh"
#include "cuda/shared_memory.cuh"
// Vectors of W, and the elements of x that they meet. What lies beyond an edge is not read, and counts as 0.

using Element = Problem::Element;
using Vector = Packed<Element, Schedule::vector_width>;

constexpr int width = Schedule::vector_width;
constexpr int strips = Schedule::strips;
constexpr int loads = Schedule::loads_in_flight;

__device__ __forceinline__ Vector load_weights(const Element* source) {
#if weight_loads == cached
  return load_global<width, false>(source);
#elif weight_loads == no_allocate
  return load_once<width, false>(source);
#else
  return load_once<width, true>(source);
#endif
}

// The first `inside` elements of a vector, which may be none or all.
__device__ __forceinline__ Vector load_weights_inside(const Element* source, int inside) {
  if (inside >= width) return load_weights(source);
  Vector vector;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    vector.elements[i] = from_float<Element>(0.0f);
#if ragged
    if (i < inside) vector.elements[i] = source[i];
#endif
  }
  return vector;
}

// The first `inside` of `count` elements of x. Accesses have `width_x` elements, of which the last ones may
// be beyond the edge if the edge divides them.
template <int count, bool guarded>
__device__ __forceinline__ void load_x(float (&x)[count], const Element* source, int inside) {
  constexpr int step = Problem::width_x < count ? Problem::width_x : count;
#pragma unroll
  for (int i = 0; i < count; i += step) {
    if (!guarded || i + step <= inside) {
      const Packed<Element, step> part = load_global<step, false>(source + i);
#pragma unroll
      for (int j = 0; j < step; ++j) x[i + j] = to_float(part.elements[j]);
    } else {
#pragma unroll
      for (int j = 0; j < step; ++j) x[i + j] = i + j < inside ? to_float(source[i + j]) : 0.0f;
    }
  }
}
