#pragma once
#include "attention/attention/wgmma/stages.cuh"
#if tickets
#  include "cuda/tile_tickets.cuh"
#endif
// Which tiles a block takes that stays.

// The tile that the block takes after another one.
__device__ __forceinline__ int tile_after(const Arguments& arguments, int index, int tiles) {
#if tickets
  const auto drawn = [&] {
    return gridDim.x + draw_tile(static_cast<unsigned long long*>(arguments.workspace), tiles).tile;
  };
#  if segmented
  return __shfl_sync(0xffffffffu, threadIdx.x % 32 == 0 ? drawn() : 0, 0);
#  else
  return drawn();
#  endif
#else
  return index + gridDim.x;
#endif
}

#if segmented
// By a warp of its own, for the thread that copies: a tile of packed sequences takes long to find, and would
// be missed when the block is ready for it.
__device__ __forceinline__ void find_tiles(const Arguments& arguments, const Problem& problem,
                                           Stages& stages) {
  const int tiles = tiles_of_all(problem);
  Turn<1> turn;
  int next;
#  pragma unroll 1
  for (int index = blockIdx.x; index < tiles; index = next) {
    next = tile_after(arguments, index, tiles);  // drawn ahead: the number is there when it is needed
    const Tile tile = tile_at(arguments, problem, index);
    if (threadIdx.x % 32 > 0 || tile.query < 0) continue;  // a lane that waits late may miss a phase
    stages.found_empty.wait(turn.parity() ^ 1);
    stages.found = tile;
    stages.found_full.arrive();
    turn.advance();
  }
  if (threadIdx.x % 32 > 0) return;
  stages.found_empty.wait(turn.parity() ^ 1);
  stages.found.query = -1;
  stages.found_full.arrive();
}
#endif
