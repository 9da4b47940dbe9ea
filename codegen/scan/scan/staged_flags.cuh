#pragma once
#include "cuda/packed.cuh"
#include "scan/scan/tile_span.cuh"
// A byte for each element of a tile in shared memory says whether a segment begins there. Scanned from the
// end, a segment begins ahead of the next one's flag, which may be that of the next tile's first element.

struct StagedHeads {
  unsigned char flags[tile_elements + 16];

  __device__ __forceinline__ static int count(const TileSpan& span) {
#if reverse
    return span.count + span.goes_on;
#else
    return span.count;
#endif
  }

  // A bit for each element of a vector, in the order of the scan.
  __device__ __forceinline__ unsigned of_vector(const TileSpan& span, int offset, bool whole) const {
    const unsigned char* source = flags + offset;
    unsigned heads = 0;
    if (whole || offset + width <= span.count) {
      Packed<unsigned char, width> vector;
      vector.bits = *reinterpret_cast<const typename Packed<unsigned char, width>::Bits*>(source);
#pragma unroll
      for (int i = 0; i < width; ++i) heads |= (vector.elements[i] != 0) << i;
    } else {
#pragma unroll
      for (int i = 0; i < width; ++i) {
        if (offset + i < span.count) heads |= (source[i] != 0) << i;
      }
    }
#if reverse
    if (offset + width < count(span)) heads |= (source[width] != 0) << width;
    heads = __brev(heads >> 1) >> (32 - width);
#endif
    return heads;
  }
};
