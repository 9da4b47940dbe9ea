#pragma once
#include "convolution/conv2d/group_tiles.cuh"
#include "convolution/conv2d_weight/mma_offsets/term_copy.cuh"
#include "matmul/gemm/mma_sync/epilogue.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
// D = alpha·(the gradient by the weight) as a product by tensor cores over all pixels, whose B is gathered.

// Sets `sums` to the products of a work unit of a tile.
__device__ __forceinline__ void multiply(Accumulators& sums, const Arguments& arguments,
                                         const Problem& problem, const Tile& tile, const WorkUnit& unit) {
  const int k = unit.first * Schedule::block_k;
  const long long filter = static_cast<long long>(tile.batch) * problem.m + tile.m;
  const Element* gradient = arguments.grad + (static_cast<long long>(k) * problem.filters + filter);
  const CopyA gradients(gradient, problem.filters, problem.m - tile.m, problem.k - k);
  const Element* x = arguments.x + tile.batch * static_cast<long long>(problem.channels);
  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;  // then neither operand is read
  multiply_tiles(sums, gradients, CopyB(x, problem, tile.n, k), nothing ? 0 : unit.steps(), unit.first, 0);
}

__device__ __forceinline__ void conv2d_weight_block(const Arguments& arguments) {
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
