#pragma once
#include "scan/scan/count_below.cuh"
#include "scan/scan/tile_span.cuh"
// Segments begin at ascending columns. A warp finds those of a tile, and sets a bit in shared memory for each
// element at which one begins. Scanned from the end, a segment begins ahead of the next one's column.

struct StagedHeads {
  unsigned marks[tile_elements / 32];

  // Of the columns at which a segment of the tile may begin, the first one.
  __device__ __forceinline__ static long long lowest(const TileSpan& span) {
#if reverse
    return span.first + 1;
#else
    return span.first;
#endif
  }

  // By a warp. Offsets from `begin` on are those that are not below the lowest column.
  __device__ __forceinline__ void mark(const long long* offsets, long long begin, long long count,
                                       const TileSpan& span) {
    constexpr int unroll = 8;  // loads of a lane that are in flight at once
    const int lane = threadIdx.x % 32;
    for (int i = lane; i < tile_elements / 32; i += 32) marks[i] = 0;
    __syncwarp();
    const long long low = lowest(span);
    bool all_inside = true;
    for (long long first = begin + lane; all_inside; first += 32 * unroll) {
      long long columns[unroll];
#pragma unroll
      for (int i = 0; i < unroll; ++i) {
        columns[i] = first + 32 * i < count ? offsets[first + 32 * i] : low + span.count;
      }
#pragma unroll
      for (int i = 0; i < unroll; ++i) {
        const long long place = columns[i] - low;
        const bool inside = place >= 0 && place < span.count;
        if (inside) atomicOr(marks + place / 32, 1u << place % 32);
        all_inside = all_inside && inside;
      }
    }
  }

  // A bit for each element of a vector, in the order of the scan.
  __device__ __forceinline__ unsigned of_vector(const TileSpan&, int offset, bool) const {
    const unsigned heads = marks[offset / 32] >> offset % 32 & ((1u << width) - 1);
#if reverse
    return __brev(heads) >> (32 - width);
#else
    return heads;
#endif
  }
};
