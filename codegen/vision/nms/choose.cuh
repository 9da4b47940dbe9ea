#pragma once
#include "cuda/warp_scan.cuh"
#include "vision/nms/pairs.cuh"
// Which boxes of a chunk are kept.

constexpr int known_words = Problem::known_words;  // of a tile, while boxes are chosen

// Decides on boxes of a tile, as far as these follow from those that are known: `free` says that no box of
// another tile may overlap the lane's, and `killers` which of its own tile ahead of it do.
__device__ __forceinline__ void decide_tile(unsigned& dead, unsigned& kept, bool free, unsigned killers) {
  for (unsigned decided = 1; decided != 0;) {
    const bool open = !((kept | dead) >> threadIdx.x % 32 & 1);
    const unsigned now_kept = __ballot_sync(0xffffffffu, open && free && (killers & ~dead) == 0);
    const unsigned now_dead = __ballot_sync(0xffffffffu, open && (killers & kept) != 0);
    decided = now_kept | now_dead;
    kept |= now_kept;
    dead |= now_dead;
  }
}

// The warps of a block decide on `some` boxes, all tiles at once, in rounds: a box is dead once one that
// overlaps it is known to be kept, and kept once all of them are known to be dead. `masks` has, for each pair
// of tiles and each box of the later one, those of the earlier that overlap it. `known` has room for two
// rounds of two words for each tile; first those of its boxes that are out already. A round decides all tiles
// that no undecided one is ahead of, and usually most others. Lane i of each warp gets those that are kept of
// tile i.
template <int warps, int most_tiles>
__device__ __forceinline__ unsigned choose_boxes(const unsigned* masks, unsigned* known, int some) {
  constexpr unsigned all_lanes = 0xffffffffu;
  constexpr int own_tiles = (most_tiles + warps - 1) / warps;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = (some + tile - 1) / tile;
  unsigned awaited[own_tiles];  // tiles ahead in which a box that may be kept overlaps the lane's
#pragma unroll
  for (int i = 0; i < own_tiles; ++i) {
    const int later = warp + i * warps;
    awaited[i] = 0;
    for (int earlier = 0; earlier < later && later < tiles; ++earlier) {
      awaited[i] |= static_cast<unsigned>(masks[place_of({later, earlier}) * tile + lane] != 0) << earlier;
    }
    if (later < tiles && lane == 0) known[most_tiles + later] = 0;
  }
  __syncthreads();
  const unsigned *dead = known, *kept = known + most_tiles;
  bool open = true;
  for (int round = 1; open; ++round) {
    unsigned* next = known + round % 2 * 2 * most_tiles;
    open = false;
#pragma unroll
    for (int i = 0; i < own_tiles; ++i) {
      const int own = warp + i * warps;
      if (own >= tiles) break;
      unsigned now_dead = dead[own], now_kept = kept[own];
      if ((now_dead | now_kept) != all_lanes) {
        const unsigned* killers = masks + place_of({own, 0}) * tile + lane;
        bool dies = false;
        unsigned still = 0;
        for (unsigned left = awaited[i]; left != 0 && !dies; left &= left - 1) {
          const int earlier = __ffs(static_cast<int>(left)) - 1;
          const unsigned others = killers[earlier * tile];
          dies = (others & kept[earlier]) != 0;
          still |= static_cast<unsigned>((others & ~dead[earlier]) != 0) << earlier;
        }
        awaited[i] = still;
        now_dead |= __ballot_sync(all_lanes, dies);
        decide_tile(now_dead, now_kept, still == 0, killers[own * tile]);
      }
      if (lane == 0) {
        next[own] = now_dead;
        next[most_tiles + own] = now_kept;
      }
      open = open || (now_dead | now_kept) != all_lanes;
    }
    open = __syncthreads_or(open);
    dead = next;
    kept = next + most_tiles;
  }
  return lane < tiles ? kept[lane] : 0;
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
