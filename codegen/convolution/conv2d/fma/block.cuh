#pragma once
#include "convolution/conv2d/fma/pixel_rounds.cuh"
#include "convolution/conv2d/fma/result.cuh"
#include "convolution/conv2d/group_tiles.cuh"
#include "matmul/sgemm/main_loop.cuh"
#include "matmul/sgemm/sliced_k_reduction.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
// D = activation(alpha·X∗W + bias) + beta·C as a product in FP32, whose A is gathered.

#if k_partitions > 1 || lanes_k > 1
using Sums = SlicedKReduction;
#else
using Sums = ThreadSums;
#endif

// Sets `sum` to this thread's part of the products of a work unit.
__device__ __forceinline__ void multiply(Accumulators& sum, const Arguments& arguments,
                                         const Problem& problem, const WorkUnit& unit, const Tile& tile,
                                         Position thread) {
#if cluster_k > 1
  const WorkUnit share = unit.share();
#else
  const WorkUnit& share = unit;
#endif
  const int k = share.first * Schedule::block_k;
  const float* x = arguments.x + tile.batch * problem.channels;
  const long long filter = static_cast<long long>(tile.batch) * problem.n + tile.n;
  const LoaderA pixels(thread.m, x, problem, tile.m, k);
  const LoaderB filters(thread.n, arguments.weight + filter * problem.k + k,
                        static_cast<Problem::Index>(problem.k), problem.n - tile.n, problem.k - k);
  const bool nothing = arguments.alpha == 0.0f;  // then X and the weight are not read
  sum = {};
  MainLoop(pixels, filters).run(sum, nothing ? 0 : share.steps());
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  const int tiles = tiling.matrix() * problem.batch;
  const Position thread = thread_position();
#if grid_blocks == 0
  const int index = cluster_index();
  if (index >= tiles) return;
  const Tile tile = locate_of_group(index, problem, tiling);
  Accumulators sum;
  multiply(sum, arguments, problem, {0, tiling.steps}, tile, thread);
  const Sums sums(sum);
  store_result(arguments, problem, tile, thread,
               [&](Output::Fragment& fragment, int first) { sums.get(fragment, first, 1.0f); });
#  if cluster_k > 1
  sums.barrier();  // before the block's shared memory goes
#  endif
#else
  const TileScheduler scheduler(tiles, tiling.steps);
  for (int index = scheduler.first_tile(); index < tiles; index = scheduler.next_tile(index)) {
    const Tile tile = locate_of_group(index, problem, tiling);
    const WorkUnit unit = scheduler.work_unit(index);
    Accumulators sum;
    multiply(sum, arguments, problem, unit, tile, thread);
    const Sums sums(sum);
    const auto load = [&](Output::Fragment& fragment, int first) { sums.get(fragment, first, 1.0f); };
    if (unit.steps() == tiling.steps) {
      store_result(arguments, problem, tile, thread, load);
    } else {
      const SplitKReduction split(arguments.workspace, scheduler.peers(index));
      if (split.store_partials(load)) {
        store_result(arguments, problem, tile, thread,
                     [&](Output::Fragment& fragment, int first) { split.reduce(fragment, first); });
      }
    }
#  if k_partitions > 1
    sums.barrier();
#  else
    __syncthreads();  // before the next tile's copies
#  endif
  }
#endif
}
