#pragma once
#if transport == bulk
#  include "streaming/map/stages.cuh"
#endif
#include "streaming/map/tile.cuh"

#if transport == bulk
__device__ __forceinline__ void map_block(const Arguments& arguments) {
  const Problem problem(arguments);
#  if scaled
  const float scale = __ldg(arguments.scale);
#  else
  constexpr float scale = 1.0f;
#  endif
  Stages stages(arguments);
  const Tile whole = static_cast<Tile>(problem.columns / tile_columns());
#  pragma unroll
  for (int stage = 0; stage < Schedule::stages; ++stage) {
    const Tile tile = blockIdx.x + stage * gridDim.x;
    if (tile < whole) stages.copy(tile, stage, problem);
  }
  int stage = 0;
  unsigned parity = 0;
#  pragma unroll 1
  for (Tile tile = blockIdx.x; tile < whole; tile += gridDim.x) {
    Operands operands[Schedule::items];
    stages.wait(stage, parity);
#  pragma unroll
    for (int item = 0; item < Schedule::items; ++item) stages.take(operands[item], stage, item);
    proxy_fence();
    __syncthreads();
    const Tile next = tile + Schedule::stages * gridDim.x;
    if (next < whole) stages.copy(next, stage, problem);
#  pragma unroll
    for (int item = 0; item < Schedule::items; ++item) {
      store(arguments, problem, place_of(problem, arguments.y, tile, item), Numbers(operands[item]), scale);
    }
    stage = stage + 1 < Schedule::stages ? stage + 1 : 0;
    parity ^= stage == 0;
  }
  // What is left is less than a tile.
  if (whole % gridDim.x == blockIdx.x) map_tile(arguments, problem, whole, scale);
}
#else
__device__ __forceinline__ void map_block(const Arguments& arguments) {
  const Problem problem(arguments);
#  if scaled
  const float scale = __ldg(arguments.scale);
#  else
  constexpr float scale = 1.0f;
#  endif
#  if grid_blocks > 0
#    if single_row
  const Tile tiles = tiles_along(problem);
#    else
  constexpr int tile_rows = Schedule::items * rows_at_once;
  const Tile tiles = tiles_along(problem) * static_cast<Tile>((problem.rows + tile_rows - 1) / tile_rows);
#    endif
#    pragma unroll 1
  for (Tile tile = blockIdx.x; tile < tiles; tile += gridDim.x) map_tile(arguments, problem, tile, scale);
#  else
  map_tile(arguments, problem, blockIdx.x, scale);
#  endif
}
#endif
