#pragma once
#include "attention/attention/sequence.cuh"
#include "cuda/warp_scan.cuh"
// Tiles of packed sequences: each sequence begins one.

// As many tiles of `rows` rows as there may be, of so many rows of all sequences.
template <int rows>
__device__ __forceinline__ int most_tiles(const Problem& problem, int all) {
  return all / rows + min(problem.sequences, all);
}

struct Found {
  int sequence;
  int number;  // of the tile among those of the sequence; less than 0 if there is none
};

// Tiles of `rows` rows of one of the sequences.
template <int rows>
__device__ __forceinline__ int tiles_of(const int* offsets, int sequence) {
  return (offsets[sequence + 1] - offsets[sequence] + rows - 1) / rows;
}

// Where a tile of queries is, if those with the highest numbers in their sequences come first: where queries
// do not see the last keys, these see the most. All lanes of a warp ask together, since each counts the tiles
// that have so many others ahead of them in their sequences.
template <int rows>
__device__ __forceinline__ Found find_longest_tile(const Arguments& arguments, const Problem& problem,
                                                   int number) {
  const int lane = threadIdx.x % 32, most = problem.queries / rows + 1;
  int level = 0, left = 0, step = 1;
  while (32 * step < most) step *= 32;
  for (; step > 0; step /= 32) {
    int count = 0;
#pragma unroll 1
    for (int base = 0; base < problem.sequences; base += 32) {
      const int own = base + lane,
                tiles = own < problem.sequences ? tiles_of<rows>(arguments.offsets, own) : 0;
#pragma unroll
      for (int i = 0; i < 32; ++i) count += max(0, from_lane<32>(tiles, i) - level - lane * step);
    }
    const unsigned more = __ballot_sync(0xffffffffu, count > number);
    if (more == 0) return {0, -1};
    const int last = __popc(more) - 1;
    level += last * step;
    left = from_lane<32>(count, last) - 1 - number;
  }
#pragma unroll 1
  for (int base = 0; base < problem.sequences; base += 32) {
    const int own = base + lane;
    const bool there = own < problem.sequences && tiles_of<rows>(arguments.offsets, own) > level;
    const unsigned all = __ballot_sync(0xffffffffu, there);
    const bool chosen = there && __popc(all & ((1u << lane) - 1)) == left;
    const unsigned found = __ballot_sync(0xffffffffu, chosen);
    if (found != 0) return {base + __ffs(found) - 1, level};
    left -= __popc(all);
  }
  return {0, -1};
}

// Where a tile of queries of a head is, or of keys. All lanes of a warp ask together, since each counts the
// tiles of one sequence.
template <int rows, bool of_keys = false>
__device__ __forceinline__ Found find_tile(const Arguments& arguments, const Problem& problem, int number) {
  const int lane = threadIdx.x % 32;
  int ahead = 0;  // tiles of the sequences that were counted
#pragma unroll 1
  for (int base = 0; base < problem.sequences; base += 32) {
    const int own = base + lane;
    const int* offsets = of_keys ? offsets_of_keys(arguments) : arguments.offsets;
    const int length = own < problem.sequences ? offsets[own + 1] - offsets[own] : 0;
    const int tiles = (length + rows - 1) / rows, behind = ahead + scan_lanes<32>(tiles, Sum());
    const unsigned later = __ballot_sync(0xffffffffu, number < behind);
    if (later != 0) {
      const int found = __ffs(later) - 1;
      return {base + found, number - from_lane<32>(behind - tiles, found)};
    }
    ahead = from_lane<32>(behind, 31);
  }
  return {0, -1};
}
