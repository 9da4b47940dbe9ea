#pragma once
#include "cuda/tile_order.cuh"
#include "matmul/sgemm/epilogue.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
#include "matmul/sgemm/main_loop.cuh"
#include "matmul/sgemm/sliced_k_reduction.cuh"
#include "matmul/sgemm/staged_store.cuh"
#include "matmul/sgemm/tile_scheduler.cuh"
// C = alpha·op(A)·op(B) + beta·C in FP32.

__device__ __forceinline__ int divide_up(unsigned value, unsigned divisor) {
  return (value + divisor - 1) / divisor;
}

// The sizes of a problem in tiles.
struct Tiling {
  int m, n;   // tiles of a matrix C
  int steps;  // tiles along k of each of them, at least one

  explicit __device__ __forceinline__ Tiling(const Problem& problem)
      : m(divide_up(problem.m, Schedule::block_m)),
        n(divide_up(problem.n, Schedule::block_n)),
        steps(max(1, divide_up(problem.k, Schedule::block_k))) {}
};

#if overlap_last_m || overlap_last_n
// The first element of a tile along a dimension. With `overlap`, the last tile covers a part of the one
// before rather than exceed the matrix; then `skip` elements are left to that one.
struct TileStart {
  int origin;
  int skip;

  __device__ __forceinline__ TileStart(int tile, int tile_size, int size, bool overlap)
      : origin(overlap ? min(tile * tile_size, size - tile_size) : tile * tile_size),
        skip(tile * tile_size - origin) {}
};

#endif
// The block's tile of C: its matrix of the batch, and its first row and column.
struct Tile {
  int batch;
  int m;
  int n;
#if overlap_last_m || overlap_last_n
  int skip_m;  // rows and columns that are left to the tile before
  int skip_n;
#endif
};

__device__ __forceinline__ Tile locate(int index, const Problem& problem, const Tiling& tiling) {
#if batched
  const int matrix_tiles = tiling.m * tiling.n;
  const int batch = index / matrix_tiles;
  const TilePosition position =
      grouped_tile<Schedule::raster_group>(index - batch * matrix_tiles, tiling.m, tiling.n);
#else
  const int batch = 0;
  const TilePosition position = grouped_tile<Schedule::raster_group>(index, tiling.m, tiling.n);
#endif
#if overlap_last_m || overlap_last_n
  const TileStart m(position.m, Schedule::block_m, problem.m, Problem::overlap_last_m);
  const TileStart n(position.n, Schedule::block_n, problem.n, Problem::overlap_last_n);
  return {batch, m.origin, n.origin, m.skip, n.skip};
#else
  const int m = position.m * Schedule::block_m, n = position.n * Schedule::block_n;
  return {batch, m, n};
#endif
}

// Sets `sum` to this thread's part of the products of a work unit. A tile has `steps` along k.
__device__ __forceinline__ void multiply(Accumulators& sum, const Arguments& arguments,
                                         const Problem& problem, const WorkUnit& unit, int steps,
                                         const Tile& tile, Position thread) {
  using Index = Problem::Index;
#if cluster_k > 1
  const WorkUnit share = unit.share();
#else
  const WorkUnit& share = unit;
#endif
#if residue_first
  const StepOrder order(share, steps);
  const int k0 = order.first * Schedule::block_k;
#else
  const int k0 = share.first * Schedule::block_k;
#endif
  // 64 bits from the matrices' origins to the block's tiles. Index is enough inside of those.
  const long long row_a = problem.lda, row_b = problem.ldb;
#if transpose_a
  const float* a = arguments.a + tile.batch * problem.stride_a + (k0 * row_a + tile.m);
#else
  const float* a = arguments.a + tile.batch * problem.stride_a + (tile.m * row_a + k0);
#endif
#if transpose_b
  const float* b = arguments.b + tile.batch * problem.stride_b + (tile.n * row_b + k0);
#else
  const float* b = arguments.b + tile.batch * problem.stride_b + (k0 * row_b + tile.n);
#endif
  const LoaderA loader_a(a, static_cast<Index>(row_a), problem.m - tile.m, problem.k - k0, thread.m);
  const LoaderB loader_b(b, static_cast<Index>(row_b), problem.n - tile.n, problem.k - k0, thread.n);
  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;  // then A and B are not read
  sum = {};
#if residue_first
  MainLoop(loader_a, loader_b).run(sum, nothing ? 0 : share.steps(), order.jump);
#else
  MainLoop(loader_a, loader_b).run(sum, nothing ? 0 : share.steps());
#endif
}

// A thread's part of a tile of C.
__device__ __forceinline__ OutputTile output_tile(const Arguments& arguments, const Problem& problem,
                                                  const Tile& tile, Position thread) {
  const int m = tile.m + thread.m, n = tile.n + thread.n;
#if guard_m || guard_n || overlap_last_m || overlap_last_n
#  if overlap_last_m || overlap_last_n
  const Bounds bounds{problem.m - m, problem.n - n, tile.skip_m - thread.m, tile.skip_n - thread.n};
#  else
  const Bounds bounds{problem.m - m, problem.n - n};
#  endif
#endif
  const auto leading = static_cast<Problem::Index>(problem.ldc);
  float* c = arguments.c + tile.batch * problem.stride_c + static_cast<long long>(m) * problem.ldc + n;
#if guard_m || guard_n || overlap_last_m || overlap_last_n
  return {c, leading, bounds};
#else
  return {c, leading};
#endif
}

#if k_partitions > 1 || lanes_k > 1
using Sums = SlicedKReduction;
#else
using Sums = ThreadSums;
#endif

#if grid_blocks == 0
// Computes one tile of C.
__device__ __forceinline__ void sgemm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  const int tiles = tiling.m * tiling.n * problem.batch;
  const Position thread = thread_position();
  const int index = cluster_index();
  if (index >= tiles) return;

  const Tile tile = locate(index, problem, tiling);
  Accumulators sum;
  multiply(sum, arguments, problem, {0, tiling.steps}, tiling.steps, tile, thread);
  const OutputTile output = output_tile(arguments, problem, tile, thread);
  const Sums sums(sum);
#  if staged_c
  store_staged(output, arguments.beta,
               [&](Output::Fragment& fragment, int first) { sums.get(fragment, first, arguments.alpha); });
#  else
  store_tile(output, arguments.beta,
             [&](Output::Fragment& fragment, int first) { sums.get(fragment, first, arguments.alpha); });
#  endif
#  if cluster_k > 1
  sums.barrier();  // before the block's shared memory goes
#  endif
}
#else
// Computes a cluster's tiles of C, or its ranges of them.
__device__ __forceinline__ void sgemm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  const int tiles = tiling.m * tiling.n * problem.batch;
  const Position thread = thread_position();
  const TileScheduler scheduler(tiles, tiling.steps);
  for (int index = scheduler.first_tile(); index < tiles; index = scheduler.next_tile(index)) {
    const Tile tile = locate(index, problem, tiling);
    const WorkUnit unit = scheduler.work_unit(index);
    Accumulators sum;
    multiply(sum, arguments, problem, unit, tiling.steps, tile, thread);
    const OutputTile output = output_tile(arguments, problem, tile, thread);
    const Sums sums(sum);
    const auto load = [&](Output::Fragment& fragment, int first) {
      sums.get(fragment, first, arguments.alpha);
    };
    if (unit.steps() == tiling.steps) {
      store_tile(output, arguments.beta, load);
    } else {
      const SplitKReduction split(arguments.workspace, scheduler.peers(index));
      if (split.store_partials(load)) {
        store_tile(output, arguments.beta,
                   [&](Output::Fragment& fragment, int first) { split.reduce(fragment, first); });
      }
    }
#  if k_partitions > 1
    sums.barrier();
#  else
    __syncthreads();  // before the next tile's copies
#  endif
  }
}
#endif
