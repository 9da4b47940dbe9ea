#pragma once
#include "scan/scan/span.cuh"
// Rows that begin within vectors are taken for rows that begin with the whole vector: `skew` elements ahead
// of the first one do not exist, and columns are counted from there.

__device__ __forceinline__ Span skewed_tile_span(long long columns, int skew, long long tile) {
  const long long start = tile * tile_elements;
#if reverse
  const long long first = (columns + width - 1) / width * width - width - start;
  const long long begin = first - skew < tile_elements - width ? skew - first : width - tile_elements;
  const long long end = columns - first;
  return {first, static_cast<int>(begin), static_cast<int>(end < width ? end : width)};
#else
  const long long left = columns - start;
  return {start, tile == 0 ? skew : 0, static_cast<int>(left < tile_elements ? left : tile_elements)};
#endif
}

// A vector that begins `offset` elements behind the tile's first one; the elements that do not exist change
// nothing.
__device__ __forceinline__ Elements load_skewed(const Element* source, const Span& span, int offset) {
  Elements vector;
  if (offset >= span.begin && offset + width <= span.end) {
    const Elements::Bits* address = reinterpret_cast<const Elements::Bits*>(source);
#if streaming
    vector.bits = __ldcs(address);
#else
    vector.bits = __ldca(address);
#endif
    return vector;
  }
#pragma unroll
  for (int i = 0; i < width; ++i) {
    const bool exists = offset + i >= span.begin && offset + i < span.end;
    vector.elements[i] = exists ? source[i] : neutral();
  }
  return vector;
}

__device__ __forceinline__ void store_skewed(Result* target, const Results& vector, const Span& span,
                                             int offset) {
  if (offset >= span.begin && offset + width <= span.end) {
    store_global_whole<Schedule::streaming>(target, vector);
    return;
  }
#pragma unroll
  for (int i = 0; i < width; ++i) {
    if (offset + i >= span.begin && offset + i < span.end) target[i] = vector.elements[i];
  }
}
