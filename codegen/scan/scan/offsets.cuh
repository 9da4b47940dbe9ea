#pragma once
#include "scan/scan/count_below.cuh"
#include "scan/scan/tile.cuh"
// Segments begin at ascending columns. A block finds those of its tile, and sets a bit in shared memory for
// each. Scanned from the end, a segment begins ahead of the next one's column.

class Heads {
 public:
  // All threads of the block take part; `marks` has a bit for each element of a tile.
  __device__ __forceinline__ Heads(const Arguments& arguments, const Problem& problem, const Span& span,
                                   unsigned* marks)
      : marks_(marks) {
    for (int i = threadIdx.x; i < (tile_elements + 31) / 32; i += Schedule::threads) marks[i] = 0;
    __syncthreads();
#if reverse
    const long long lowest = span.first + span.begin + 1, last = span.first + width;
#else
    const long long lowest = span.first;
#endif
    const long long highest = lowest + span.end - span.begin;
    const long long count = problem.segments + 1;
    long long i = count_below(arguments.offsets, count, lowest) + threadIdx.x;
    for (; i < count; i += Schedule::threads) {
      const long long begin = arguments.offsets[i];
      if (begin < lowest || begin >= highest) break;
#if reverse
      const int place = static_cast<int>(last - begin);
#else
      const int place = static_cast<int>(begin - lowest);
#endif
      atomicOr(marks + place / 32, 1u << place % 32);
    }
    __syncthreads();
  }

  __device__ __forceinline__ unsigned of_vector(const Span&, int offset, int) const {
#if reverse
    offset = -offset;
#endif
    return marks_[offset / 32] >> offset % 32 & ((1u << width) - 1);
  }

 private:
  const unsigned* marks_;
};
