#pragma once
#include "matmul/gemm/mma_sync/epilogue.cuh"
#if element == int8
#  include "matmul/gemm/mma_sync/int_sums.cuh"
#endif
#include "matmul/gemm/prepare.cuh"
#if promote
#  include "matmul/gemm/mma_sync/promotion.cuh"
#endif
#include "matmul/sgemm/split_k_reduction.cuh"
// D = activation(Z) + beta·C with Z = alpha·op(A)·op(B) + bias by tensor cores.

// Sets `sums` to the products of a work unit of a tile.
__device__ __forceinline__ void multiply(Accumulators& sums, const Arguments& arguments,
                                         const Problem& problem, const Tile& tile, const WorkUnit& unit) {
  const int k = unit.first * Schedule::block_k;
  const Element* a = arguments.a + tile.batch * problem.stride_a;
  const ElementB* b = arguments.b + tile.batch * problem.stride_b;
  a += TileA::along_k ? tile.m * problem.lda + k : k * problem.lda + tile.m;
#if gate == halves
  const int columns = problem.n / 2, first_n = tile.n / 2;
#else
  const int columns = problem.n, first_n = tile.n;
#endif
  b += TileB::along_k ? first_n * problem.ldb + k : k * problem.ldb + first_n;
  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;  // then A and B are not read
  multiply_tiles(sums, CopyA(a, problem.lda, problem.m - tile.m, problem.k - k),
                 CopyB(b, problem.ldb, columns - first_n, problem.k - k,
                       TileB::along_k ? columns * problem.ldb : columns),
                 nothing ? 0 : unit.steps(), unit.first,
#if promote
                 Promotion(arguments, problem, tile.m, tile.n));
#else
                 0);
#endif
}

__device__ __forceinline__ void gemm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  Accumulators sums;
  const auto load = [&](Output::Fragment& fragment, int first) { get_fragment(fragment, sums, first); };
#if grid_blocks == 0
  const Tile tile = locate(blockIdx.x, tiling);
  multiply(sums, arguments, problem, tile, {0, tiling.steps});
  store_tile(arguments, problem, tile, load);
#else
  const int tiles = tiling.matrix() * problem.batch;
  const TileScheduler scheduler(tiles, tiling.steps);
  for (int index = scheduler.first_tile(); index < tiles; index = scheduler.next_tile(index)) {
    const Tile tile = locate(index, tiling);
    const WorkUnit unit = scheduler.work_unit(index);
    multiply(sums, arguments, problem, tile, unit);
    if (unit.steps() == tiling.steps) {
      store_tile(arguments, problem, tile, load);
    } else {
      const SplitKReduction split(arguments.workspace, scheduler.peers(index));
      if (split.store_partials(load)) {
        store_tile(arguments, problem, tile,
                   [&](Output::Fragment& fragment, int first) { split.reduce(fragment, first); });
      }
    }
    __syncthreads();  // before the next tile's copies
  }
#endif
}
