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
