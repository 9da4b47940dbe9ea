#pragma once
#include "streaming/map/tile.cuh"

__device__ __forceinline__ void map_block(const Arguments& arguments) {
  const Problem problem(arguments);
#if scaled
  const float scale = __ldg(arguments.scale);
#else
  constexpr float scale = 1.0f;
#endif
#if grid_blocks > 0
#  if single_row
  const Tile tiles = tiles_along(problem);
#  else
  constexpr int tile_rows = Schedule::items * rows_at_once;
  const Tile tiles = tiles_along(problem) * static_cast<Tile>((problem.rows + tile_rows - 1) / tile_rows);
#  endif
#  pragma unroll 1
  for (Tile tile = blockIdx.x; tile < tiles; tile += gridDim.x) map_tile(arguments, problem, tile, scale);
#else
  map_tile(arguments, problem, blockIdx.x, scale);
#endif
}
