#pragma once
#include "convolution/conv2d/mma_offsets/pixel_copy.cuh"
#include "convolution/conv2d/group_tiles.cuh"
#include "matmul/gemm/mma_sync/epilogue.cuh"
#if element == int8
#  include "matmul/gemm/mma_sync/int_sums.cuh"
#endif
#include "matmul/sgemm/split_k_reduction.cuh"
// D = activation(alpha·X∗W + bias) + beta·C as a product by tensor cores, whose A is gathered.

// Sets `sums` to the products of a work unit of a tile.
__device__ __forceinline__ void multiply(Accumulators& sums, const Arguments& arguments,
                                         const Problem& problem, const Tile& tile, const WorkUnit& unit) {
  const int k = unit.first * Schedule::block_k;
  const Element* x = arguments.x + tile.batch * problem.channels;
  const long long filter = static_cast<long long>(tile.batch) * problem.n + tile.n;
  const CopyB weight(arguments.weight + filter * problem.k + k, problem.k, problem.n - tile.n, problem.k - k);
  const bool nothing = arguments.alpha == 0.0f;  // then X and the weight are not read
  multiply_tiles(sums, CopyA(x, problem, tile.m, k), weight, nothing ? 0 : unit.steps(), unit.first, 0);
}

// Stores the block's tile, with the bias of its group.
template <class Load>
__device__ __forceinline__ void store_group(const Arguments& arguments, const Problem& problem,
                                            const Tile& tile, Load load) {
#if (bias || scaled_columns) && batched
  Arguments of_group = arguments;
#  if bias
  of_group.bias += tile.batch * problem.n;
#  endif
#  if scaled_columns
  of_group.scale_b += tile.batch * problem.n;
#  endif
  store_tile(of_group, problem, tile, load);
#else
  store_tile(arguments, problem, tile, load);
#endif
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  Accumulators sums;
  const auto load = [&](Output::Fragment& fragment, int first) { get_fragment(fragment, sums, first); };
#if grid_blocks == 0
  const Tile tile = locate_of_group(blockIdx.x, problem, tiling);
  multiply(sums, arguments, problem, tile, {0, tiling.steps});
  store_group(arguments, problem, tile, load);
#else
  const int tiles = tiling.matrix() * problem.batch;
  const TileScheduler scheduler(tiles, tiling.steps);
  for (int index = scheduler.first_tile(); index < tiles; index = scheduler.next_tile(index)) {
    const Tile tile = locate_of_group(index, problem, tiling);
    const WorkUnit unit = scheduler.work_unit(index);
    multiply(sums, arguments, problem, tile, unit);
    if (unit.steps() == tiling.steps) {
      store_group(arguments, problem, tile, load);
    } else {
      const SplitKReduction split(arguments.workspace, scheduler.peers(index));
      if (split.store_partials(load)) {
        store_group(arguments, problem, tile,
                    [&](Output::Fragment& fragment, int first) { split.reduce(fragment, first); });
      }
    }
    __syncthreads();  // before the next tile's copies
  }
#endif
}
