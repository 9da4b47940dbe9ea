#pragma once
#include "convolution/conv2d/group_tiles.cuh"
#include "convolution/conv2d_input/fma/filter_rounds.cuh"
#include "matmul/sgemm/epilogue.cuh"
#include "matmul/sgemm/main_loop.cuh"
#include "matmul/sgemm/sliced_k_reduction.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
// D = alpha·(the gradient by the images) as a product of each phase in FP32, whose operands are gathered.

#if k_partitions > 1 || lanes_k > 1
using Sums = SlicedKReduction;
#else
using Sums = ThreadSums;
#endif

// Sets `sum` to this thread's part of the products of a work unit.
__device__ __forceinline__ void multiply(Accumulators& sum, const Arguments& arguments, const Problem& all,
                                         const WorkUnit& unit, const Tile& tile, Position thread) {
  Problem problem = all;
  problem.phase = tile.batch;
#if cluster_k > 1
  const WorkUnit share = unit.share();
#else
  const WorkUnit& share = unit;
#endif
  const int k = share.first * Schedule::block_k;
  const LoaderA pixels(thread.m, arguments.grad, problem, tile.m, k);
  const LoaderB filters(thread.n, arguments.weight, problem, tile.n, k);
  const bool nothing = arguments.alpha == 0.0f;  // then neither operand is read
  sum = {};
  MainLoop(pixels, filters).run(sum, nothing ? 0 : steps_of(problem, share, tile.batch));
}

// Stores all that this thread writes of a tile. `load` sets a fragment to the sums from a vector on.
template <class Load>
__device__ __forceinline__ void store_result(const Arguments& arguments, const Problem& problem,
                                             const Tile& tile, Position thread, Load load) {
  constexpr int width = Output::width;
  for_each_fragment([&](int first) {
    Output::Fragment fragment;
    load(fragment, first);
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
      const Position from = Output::position(first + i);
      const int m = tile.m + thread.m + from.m / StripsM::width * StripsM::step + from.m % StripsM::width;
      const int n = tile.n + thread.n + from.n / StripsN::width * StripsN::step + from.n % StripsN::width;
      const long long place = place_of_row(problem, tile.batch, m);
      if (place < 0) continue;
#pragma unroll
      for (int j = 0; j < width; ++j) fragment.elements[i][j] *= arguments.alpha;
#if guard_n
      if (n + width > problem.n) {
#  pragma unroll
        for (int j = 0; j < width; ++j)
          if (n + j < problem.n) arguments.d[place + n + j] = fragment.elements[i][j];
        continue;
      }
#endif
      copy_vector<width>(arguments.d + place + n, fragment.elements[i]);
    }
  });
}

__device__ __forceinline__ void conv2d_input_block(const Arguments& arguments) {
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
