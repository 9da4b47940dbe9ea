#pragma once
#include "attention/attention/tile_order.cuh"
#include "attention/attention/wgmma/warpgroups.cuh"
#if splits > 1 || masked
#  include "attention/attention/parts.cuh"
#endif
// The queries of a block.

constexpr int block_rows = Schedule::consumers * consumer_rows;

#if masked
// Whether the mask may let some query of a tile see some key from `key` on.
__device__ __forceinline__ bool may_see(const Arguments& arguments, const Problem& problem, const Tile& tile,
                                        int key) {
  return chance_of(arguments, problem, tile, tile.query, block_rows, key).holds;
}
#endif

constexpr int packed = Problem::packed_heads;  // heads of q whose queries are rows of a tile

// Tiles of all heads.
__device__ __forceinline__ int tiles_of_all(const Problem& problem) {
  return tiles_of_head<block_rows / packed>(problem) * (problem.all_heads / packed);
}

__device__ __forceinline__ Tile tile_at(const Arguments& arguments, const Problem& problem, int index) {
#if splits > 1 || masked
  return part_at<block_rows, packed>(arguments, problem, index, Schedule::heads_together);
#else
  return tile_at<block_rows, packed>(arguments, problem, index, Schedule::heads_together);
#endif
}
