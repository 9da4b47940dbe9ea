#pragma once
#include "attention/attention/tile_order.cuh"
#include "attention/attention/wgmma/warpgroups.cuh"
#if splits > 1
#  include "attention/attention/parts.cuh"
#endif
// The queries of a block.

constexpr int block_rows = Schedule::consumers * consumer_rows;

__device__ __forceinline__ Tile tile_at(const Arguments& arguments, const Problem& problem, int index) {
#if splits > 1
  return part_at<block_rows>(arguments, problem, index, Schedule::heads_together);
#else
  return tile_at<block_rows>(arguments, problem, index, Schedule::heads_together);
#endif
}
