#pragma once
#include "rows/reduce/operation.cuh"
#include "rows/reduce/vectors.cuh"
// What a thread makes of its vectors of a row, one after the other.

#if indexed
// The largest number so far and the index of the first element of its vector, which spares most comparisons.
// Only the largest vector of the row is searched for the number, in the end.
struct RowPart {
  Partial partial;

  explicit __device__ __forceinline__ RowPart(Index first) : partial(empty_partial(first)) {}

  // An element ahead of the row's first vector.
  __device__ __forceinline__ void take_element(Element element, Index index) {
    take(partial, element, index);
  }
  __device__ __forceinline__ void take_vector(const Vector& vector, Index first) {
    Number largest = number_of(vector.elements[0]);
#  pragma unroll
    for (int i = 1; i < vector_width; ++i) largest = Max()(largest, number_of(vector.elements[i]));
    take_number(partial, largest, first);
  }
  // Of a vector that sticks out of the row.
  __device__ __forceinline__ void take_inside(const Vector& vector, Index first, Index inside) {
    Number largest = lowest();
#  pragma unroll
    for (int i = 0; i < vector_width; ++i) {
      if (i < inside) largest = Max()(largest, number_of(vector.elements[i]));
    }
    if (inside > 0) take_number(partial, largest, first);
  }
  __device__ __forceinline__ Partial total() const { return partial; }
};

// The index of the row's maximum; elements of the `head` have their own, others that of their vector.
__device__ __forceinline__ Result row_result(Partial total, ElementPointer row, Index columns, int head) {
  if (total.index < head) return total.index;
  const Vector vector = load_inside(row + total.index, columns - total.index);
  int place = vector_width - 1;
#  pragma unroll
  for (int i = vector_width - 1; i >= 0; --i) {
    const Number number = number_of(vector.elements[i]);
    const bool same = number == total.value || (number != number && total.value != total.value);
    if (same && total.index + i < columns) place = i;
  }
  return total.index + place;
}
#else
// A partial result for each element of a vector, so that additions need not wait for each other.
struct RowPart {
  Partial partials[vector_width];

  explicit __device__ __forceinline__ RowPart(Index first) {
#  pragma unroll
    for (int i = 0; i < vector_width; ++i) partials[i] = empty_partial(first);
  }

  // An element ahead of the row's first vector.
  __device__ __forceinline__ void take_element(Element element, Index index) {
    take(partials[0], element, index);
  }
  __device__ __forceinline__ void take_vector(const Vector& vector, Index first) {
#  pragma unroll
    for (int i = 0; i < vector_width; ++i) take(partials[i], vector.elements[i], first);
  }
  // Of a vector that sticks out of the row.
  __device__ __forceinline__ void take_inside(const Vector& vector, Index first, Index inside) {
#  pragma unroll
    for (int i = 0; i < vector_width; ++i) {
      if (i < inside) take(partials[i], vector.elements[i], first);
    }
  }
  __device__ __forceinline__ Partial total() const {
    Partial total = partials[0];
#  pragma unroll
    for (int i = 1; i < vector_width; ++i) total = Combine()(total, partials[i]);
    return total;
  }
};

#  if op == mean
__device__ __forceinline__ Result row_result(Partial total, ElementPointer, Index columns, int) {
  return result_of(total, columns);
}
#  else
__device__ __forceinline__ Result row_result(Partial total, ElementPointer, Index, int) {
  return result_of(total);
}
#  endif
#endif
