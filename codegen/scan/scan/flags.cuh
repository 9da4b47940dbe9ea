#pragma once
#include "scan/scan/tile.cuh"
// A byte for each element says whether a segment begins there. Scanned from the end, a segment begins ahead
// of the next one's flag.

class Heads {
 public:
  __device__ __forceinline__ Heads(const Arguments& arguments, const Problem& problem, const Span&, unsigned*)
      : flags_(arguments.flags), columns_(problem.columns) {}

  __device__ __forceinline__ unsigned of_vector(const Span& span, int offset, int inside) const {
    if (inside == 0) return 0;
    const unsigned char* source = flags_ + span.first + offset;
    unsigned heads = 0;
#if ragged
    if (inside < width) {
#  pragma unroll
      for (int i = 0; i < width; ++i) {
        if (i < inside) heads |= (source[i] != 0) << i;
      }
    } else {
      heads = of_whole(source);
    }
#else
    heads = of_whole(source);
#endif
#if reverse
    if (span.first + offset + width < columns_) heads |= (source[width] != 0) << width;
    heads = __brev(heads >> 1) >> (32 - width);
#endif
    return heads;
  }

 private:
  __device__ __forceinline__ static unsigned of_whole(const unsigned char* source) {
    const Packed<unsigned char, width> vector = load_global<width, false>(source);
    unsigned heads = 0;
#pragma unroll
    for (int i = 0; i < width; ++i) heads |= (vector.elements[i] != 0) << i;
    return heads;
  }

  const unsigned char* flags_;
  long long columns_;
};
