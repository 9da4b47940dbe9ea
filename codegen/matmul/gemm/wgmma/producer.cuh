#pragma once
#include "matmul/gemm/wgmma/stages.cuh"
#if residual_ring
#  include "matmul/gemm/wgmma/residual_ring.cuh"
#elif residual_stages
#  include "matmul/gemm/wgmma/residual.cuh"
#endif
// The thread that has tensor copies fill the stages.

__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem,
                                        const Tiling& tiling, Stages& stages) {
  // Blocks of the same rows share A, those of the same columns B.
  constexpr unsigned column = (1u << Schedule::cluster_m) - 1;
  constexpr unsigned row = Schedule::cluster_n == 1 ? 1 : 1 | 1u << Schedule::cluster_m;
  const unsigned short mask_a = row << rank_m(), mask_b = column << rank_n() * Schedule::cluster_m;
  Turn turn;
  for_each_tile(problem, tiling, [&](const Tile& tile, const WorkUnit& unit, const Peers&) {
#pragma unroll 1
    for (int step = unit.first; step < unit.last; ++step) {
      const int k = step * Schedule::block_k;
      unsigned char* tiles = Stages::tiles(turn.stage());
      Barrier& full = stages.full[turn.stage()];
      stages.empty[turn.stage()].wait(turn.parity() ^ 1);
      full.arrive_and_expect(stage_bytes);
      TileA::copy(tiles, arguments.map_a, tile.batch, tile.m, k, rank_n(), mask_a, full);
#if gate == halves
      TileB::copy(tiles + TileA::bytes, arguments.map_b, tile.batch, tile.n / 2, k, 0, mask_b, full,
                  problem.n / 2);
#else
      TileB::copy(tiles + TileA::bytes, arguments.map_b, tile.batch, tile.n, k, rank_m(), mask_b, full);
#endif
      turn.advance();
    }
#if residual_stages && !residual_ring
    copy_residual(arguments, tile, stages, turn);
#endif
  });
}
