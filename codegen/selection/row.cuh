#pragma once
#include "cuda/packed.cuh"
#include "selection/order.cuh"

constexpr int width = Schedule::vector_width;
using Vector = Packed<Element, width>;

// A row as vectors. One that begins within a vector is taken for one that begins `skew` elements earlier:
// its first and its last vector are loaded element by element.
struct Row {
  const Element* elements;
  int skew;
  int length;

  __device__ __forceinline__ Row(const Arguments& arguments, const Problem& problem, long long row) {
    const long long start = row * problem.ldx;
    elements = arguments.x + start;
#if skewed
    skew = static_cast<int>(start % width);
#else
    skew = 0;
#endif
#if lengths
    const int stated = arguments.lengths[row];
    length = stated < 0 ? 0 : stated < problem.columns ? stated : problem.columns;
#else
    length = problem.columns;
#endif
  }

  __device__ __forceinline__ int vectors() const { return (length + skew + width - 1) / width; }
  __device__ __forceinline__ int column(int vector) const { return vector * width - skew; }
  __device__ __forceinline__ bool has(int column) const { return column >= 0 && column < length; }

  // A vector that is inside of the row.
  __device__ __forceinline__ Vector load(int vector) const {
    return load_global<width, Schedule::streaming>(elements + column(vector));
  }
  // Any vector; elements that the row has not are zero bits.
  __device__ __forceinline__ Vector load_inside(int vector) const {
    const int first = column(vector);
    if (first >= 0 && first + width <= length) return load(vector);
    Vector loaded{};
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (has(first + i)) loaded.elements[i] = elements[first + i];
    }
    return loaded;
  }
};
