#pragma once
#include "convolution/conv2d/group_tiles.cuh"
#include "convolution/conv2d_input/mma_offsets/filter_copy.cuh"
#include "matmul/gemm/mma_sync/epilogue.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
// D = alpha·(the gradient by the images) as a product of each phase by tensor cores, whose operands are
// gathered.

// Sets `sums` to the products of a work unit of a tile.
__device__ __forceinline__ void multiply(Accumulators& sums, const Arguments& arguments, const Problem& all,
                                         const Tile& tile, const WorkUnit& unit) {
  Problem problem = all;
  problem.phase = tile.batch;
  const int k = unit.first * Schedule::block_k;
  const int steps =
      arguments.alpha == 0.0f ? 0 : steps_of(problem, unit, tile.batch);  // then nothing is read
  const CopyA pixels(arguments.grad, problem, tile.m, k);
  const CopyB filters(arguments.weight, problem, tile.n, k);
  multiply_tiles(sums, pixels, filters, steps, unit.first, 0);
}

__device__ __forceinline__ void conv2d_input_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  Accumulators sums;
  const auto load = [&](Output::Fragment& fragment, int first) { get_fragment(fragment, sums, first); };
#if grid_blocks == 0
  const Tile tile = locate_of_group(blockIdx.x, problem, tiling);
  multiply(sums, arguments, problem, tile, {0, tiling.steps});
  store_tile(arguments, problem, tile, load);
#else
  const int tiles = tiling.matrix() * problem.batch;
  const TileScheduler scheduler(tiles, tiling.steps);
  for (int index = scheduler.first_tile(); index < tiles; index = scheduler.next_tile(index)) {
    const Tile tile = locate_of_group(index, problem, tiling);
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
