#pragma once
#include "convolution/conv2d/group_tiles.cuh"
#include "convolution/conv2d_weight/fma/term_rounds.cuh"
#include "matmul/gemm/tiling.cuh"
#include "matmul/sgemm/epilogue.cuh"
#include "matmul/sgemm/main_loop.cuh"
#include "matmul/sgemm/sliced_k_reduction.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
// D = alpha·(the gradient by the weight) as a product in FP32 over all pixels, whose B is gathered.

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
  const long long filter = static_cast<long long>(tile.batch) * problem.m + tile.m;
  const auto leading = static_cast<Problem::Index>(problem.filters);
  const float* gradient = arguments.grad + (static_cast<long long>(k) * problem.filters + filter);
  const LoaderA gradients(thread.m, gradient, leading, problem.m - tile.m, problem.k - k);
  const float* x = arguments.x + tile.batch * static_cast<long long>(problem.channels);
  const LoaderB terms(thread.n, x, problem, tile.n, k);
  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;  // then neither operand is read
  sum = {};
  MainLoop(gradients, terms).run(sum, nothing ? 0 : share.steps());
}

// A thread's part of a tile of D.
__device__ __forceinline__ OutputTile output_tile(const Arguments& arguments, const Problem& problem,
                                                  const Tile& tile, Position thread) {
  const int m = tile.m + thread.m, n = tile.n + thread.n;
  float* d = arguments.d + tile.batch * problem.stride_d + m * problem.ldd + n;
  return {d, static_cast<Problem::Index>(problem.ldd), {problem.m - m, problem.n - n}};
}

__device__ __forceinline__ void conv2d_weight_block(const Arguments& arguments) {
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
  store_tile(output_tile(arguments, problem, tile, thread), 0.0f,
             [&](Output::Fragment& fragment, int first) { sums.get(fragment, first, arguments.alpha); });
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
    const OutputTile output = output_tile(arguments, problem, tile, thread);
    const Sums sums(sum);
    const auto load = [&](Output::Fragment& fragment, int first) {
      sums.get(fragment, first, arguments.alpha);
    };
    if (unit.steps() == tiling.steps) {
      store_tile(output, 0.0f, load);
    } else {
      const SplitKReduction split(arguments.workspace, scheduler.peers(index));
      if (split.store_partials(load)) {
        store_tile(output, 0.0f,
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
