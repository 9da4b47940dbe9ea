#pragma once
#include "vision/nms/candidates.cuh"
// Pairs of tiles, of which one is the earlier or both are the same, and the comparison of a tile with a box.

struct TilePair {
  int later, earlier;
};

__device__ __forceinline__ constexpr int pairs_of_tiles(int tiles) { return tiles * (tiles + 1) / 2; }

// The number of a pair, by its later tile.
__device__ __forceinline__ int place_of(TilePair pair) { return pairs_of_tiles(pair.later) + pair.earlier; }

// Number `i` of all pairs of an even number of tiles: the first and the last tile have one more pair together
// than there are tiles, and so have the second and the one before the last.
__device__ __forceinline__ TilePair pair_of(int i, int tiles) {
  const int row = i / (tiles + 1), column = i % (tiles + 1);
  return column <= row ? TilePair{row, column} : TilePair{tiles - 1 - row, column - row - 1};
}

// Which of `count` boxes from `first` on suppress a box: first those that might, then those that do.
__device__ __forceinline__ unsigned killers_of(const Candidates& boxes, int first, int count,
                                               const Candidate& own, const OverlapTest& test) {
  unsigned found = 0;
#pragma unroll 4
  for (int i = 0; i < count; ++i) {
    found |= static_cast<unsigned>(may_suppress(boxes, first + i, own, test)) << i;
  }
  for (unsigned left = found; left != 0; left &= left - 1) {
    const int i = __ffs(static_cast<int>(left)) - 1;
    if (!test.exceeds(Overlap(boxes.corners[first + i], own.corners))) found &= ~(1u << i);
  }
  return found;
}
