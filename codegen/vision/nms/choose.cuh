#pragma once
#include "cuda/warp_scan.cuh"
#include "vision/nms/pairs.cuh"
#include "vision/nms/survivors.cuh"
// Which boxes of a chunk are kept, tile by tile.

// The warps of a block go through `some` boxes: `masks` has, for each pair of tiles and each box of the later
// one, those of the earlier that suppress it, and `dead` those of each tile that are out. Each warp finds out
// which of a tile are kept, and which boxes of its own later tiles these suppress. Lane i of each warp gets
// those that are kept of tile i.
template <int warps>
__device__ __forceinline__ unsigned choose_boxes(const unsigned* masks, unsigned* dead, int some) {
  const int lane = threadIdx.x % 32, tiles = (some + tile - 1) / tile;
  unsigned chosen = 0;
  for (int i = 0; i < tiles; ++i) {
    const int first = i + 1 + static_cast<int>(threadIdx.x) / 32;
    unsigned killers = first < tiles ? masks[place_of({first, i}) * tile + lane] : 0;
    const unsigned survivors = survivors_of(dead[i], masks[place_of({i, i}) * tile + lane]);
    for (int later = first; later < tiles; later += warps) {
      if (later != first) killers = masks[place_of({later, i}) * tile + lane];
      const unsigned dies = __ballot_sync(0xffffffffu, (killers & survivors) != 0);
      if (lane == 0 && dies != 0) dead[later] |= dies;
    }
    if (lane == i) chosen = survivors;
    __syncthreads();
  }
  return chosen;
}

// Calls use(box, rank) for each box of a chunk that is kept, by all warps of a block; returns how many these
// are. `chosen` has those of each tile.
template <int tiles, int warps, class Use>
__device__ __forceinline__ int for_each_chosen(const unsigned* chosen, Use use) {
  const int lane = threadIdx.x % 32;
  const unsigned own = lane < tiles ? chosen[lane] : 0;
  const int behind = scan_lanes<32>(__popc(own), Sum());
  for (int i = threadIdx.x / 32; i < tiles; i += warps) {
    const unsigned of_tile = __shfl_sync(0xffffffffu, own, i);
    const int last = __shfl_sync(0xffffffffu, behind, i);
    if (of_tile >> lane & 1) use(i * tile + lane, last - __popc(of_tile >> lane));
  }
  return __shfl_sync(0xffffffffu, behind, 31);
}
