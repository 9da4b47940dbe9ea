#pragma once
#include "cuda/packed.cuh"
#include "scan/scan/operation.cuh"
// Where the tiles of a row are in memory, and accesses to their vectors. Where the scan is reversed, all is
// counted from the end of the row.

constexpr int width = Schedule::vector_width;
constexpr int row_threads = Schedule::threads_per_row;
constexpr int row_lanes = row_threads < 32 ? row_threads : 32;  // lanes of a row in a warp
constexpr int tile_elements = row_threads * Schedule::rounds * width;

using Elements = Packed<Element, width>;
using Results = Packed<Result, width>;

// Where a tile is in a row. Elements are counted from its first vector in the order of the scan, and those
// from `begin` to before `end` exist; a vector that exists in parts does at its end in memory.
struct Span {
  long long first;  // column of the first vector
  int begin, end;

  __device__ __forceinline__ int inside(int offset) const {
#if reverse
    if (offset < begin) return 0;
#endif
    const int left = end - offset;
    return left < 0 ? 0 : left < width ? left : width;
  }
};

// Of a row that does not exist, `columns` are 0.
__device__ __forceinline__ Span tile_span(long long columns, long long tile) {
  const long long start = tile * tile_elements;
#if reverse
  const long long first = (columns + width - 1) / width * width - width - start;
  const long long begin = first < tile_elements - width ? -first : width - tile_elements;
  const long long end = columns - first;
  return {first, static_cast<int>(begin), static_cast<int>(end < width ? end : width)};
#else
  const long long left = columns - start;
  return {start, 0, static_cast<int>(left < tile_elements ? left : tile_elements)};
#endif
}

// Of an element of a vector, counted in the order of the scan, its place in memory.
__device__ __forceinline__ constexpr int in_memory(int i) {
#if reverse
  return width - 1 - i;
#else
  return i;
#endif
}

// A vector of which some elements are inside; the others change nothing. Not by __ldg, as the output may be
// the input; and not by a plain load, which would not know that an opaque address is of global memory.
__device__ __forceinline__ Elements load_elements(const Element* source, int inside) {
  Elements vector;
#if ragged
  if (inside < width) {
#  pragma unroll
    for (int i = 0; i < width; ++i) vector.elements[i] = i < inside ? source[i] : neutral();
    return vector;
  }
#else
  if (inside == 0) {
#  pragma unroll
    for (int i = 0; i < width; ++i) vector.elements[i] = neutral();
    return vector;
  }
#endif
  const Elements::Bits* address = reinterpret_cast<const Elements::Bits*>(source);
#if streaming
  vector.bits = __ldcs(address);
#else
  vector.bits = __ldca(address);
#endif
  return vector;
}

__device__ __forceinline__ void store_results(Result* target, const Results& vector, int inside) {
#if ragged
  if (inside < width) {
#  pragma unroll
    for (int i = 0; i < width; ++i) {
      if (i < inside) target[i] = vector.elements[i];
    }
    return;
  }
#else
  if (inside == 0) return;
#endif
  store_global_whole<Schedule::streaming>(target, vector);
}
