#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/read_once.cuh"
#include "cuda/shared_memory.cuh"
#if weights == fp8
#  include "cuda/float8.cuh"
#endif
// Vectors of W as stored, and the elements of x that they meet. What lies beyond an edge is not read, and
// counts as 0.

using Element = Problem::Element;
#if weights == plain
using Vector = Packed<Element, Schedule::vector_width>;
#else
using Stored = Problem::Stored;
using Vector = Packed<Stored, Schedule::vector_width>;
#endif

constexpr int width = Schedule::vector_width;
constexpr int strips = Schedule::strips;
constexpr int loads = Schedule::loads_in_flight;

// Where a vector of W lies, and how many of its elements are there: none, some or all.
struct Source {
#if weights == plain
  const Element* elements;
#else
  const Stored* elements;
#endif
  int inside;
};

__device__ __forceinline__ Vector load_weights(Source source) {
  Vector vector;
  if (source.inside >= width) {
#if weight_loads == cached
    vector = load_global<width, false>(source.elements);
#elif weight_loads == no_allocate
    vector = load_once<width, false>(source.elements);
#else
    vector = load_once<width, true>(source.elements);
#endif
  } else {
#pragma unroll
    for (int i = 0; i < width; ++i) {
#if weights == plain
      vector.elements[i] = from_float<Element>(0.0f);
#else
      vector.elements[i] = Stored{};
#endif
#if ragged
      if (i < source.inside) vector.elements[i] = source.elements[i];
#endif
    }
  }
  return vector;
}

#if transpose_x
// The elements that all vectors have in the first `inside` of `count` rows of x. Accesses have `width_x`
// elements of a row.
template <int count, bool guarded>
__device__ __forceinline__ void load_x_rows(float (&x)[Problem::m][count], const Element* source,
                                            long long ldx, int inside) {
#  pragma unroll
  for (int i = 0; i < count; ++i) {
#  pragma unroll
    for (int vector = 0; vector < Problem::m; vector += Problem::width_x) {
      Packed<Element, Problem::width_x> part = {};
      if (!guarded || i < inside) part = load_global<Problem::width_x, false>(source + i * ldx + vector);
#  pragma unroll
      for (int j = 0; j < Problem::width_x; ++j) x[vector + j][i] = to_float(part.elements[j]);
    }
  }
}
#endif

// The first `inside` of `count` elements of x. Accesses have `width_x` elements, of which the last ones may
// be beyond the edge if the edge divides them.
template <int count, bool guarded>
__device__ __forceinline__ void load_x(float (&x)[count], const Element* source, int inside) {
  constexpr int step = Problem::width_x < count ? Problem::width_x : count;
#pragma unroll
  for (int i = 0; i < count; i += step) {
    if (!guarded || i + step <= inside) {
#if shared_x
      const Packed<Element, step> part = *reinterpret_cast<const Packed<Element, step>*>(source + i);
#else
      const Packed<Element, step> part = load_global<step, false>(source + i);
#endif
#pragma unroll
      for (int j = 0; j < step; ++j) x[i + j] = to_float(part.elements[j]);
    } else {
#pragma unroll
      for (int j = 0; j < step; ++j) x[i + j] = i + j < inside ? to_float(source[i + j]) : 0.0f;
    }
  }
}
