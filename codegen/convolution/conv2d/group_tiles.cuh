#pragma once
#include "matmul/gemm/tiling.cuh"

// Where a tile of a group is. Groups take turns, so that blocks which run at the same time read, and write,
// whole pixels.
__device__ __forceinline__ Tile locate_of_group(int index, const Problem& problem, const Tiling& tiling) {
#if batched
  Tile tile = locate(index / problem.batch, tiling);
  tile.batch = index % problem.batch;
  return tile;
#else
  return locate(index, tiling);
#endif
}
