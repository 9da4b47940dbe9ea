#pragma once
#include "cuda/tile_order.cuh"
#include "sgemm/epilogue.cuh"
#include "sgemm/main_loop.cuh"
#include "sgemm/split_k.cuh"
// C = alpha·op(A)·op(B) + beta·C in FP32: one block computes one tile of C, or one slice along k of it.

__device__ __forceinline__ int divide_up(unsigned value, unsigned divisor) {
  return (value + divisor - 1) / divisor;
}

__device__ __forceinline__ void sgemm_block(const Arguments& arguments) {
  using Index = Problem::Index;
  const Problem problem(arguments);
  const int tiles_m = divide_up(problem.m, Schedule::block_m);
  const int tiles_n = divide_up(problem.n, Schedule::block_n);
  const int tiles = tiles_m * tiles_n;
  const TilePosition tile = grouped_tile<Schedule::group_m>(blockIdx.x % tiles, tiles_m, tiles_n);
  const int slice = blockIdx.x / tiles % Schedule::split_k;
  const int batch = blockIdx.x / tiles / Schedule::split_k;
  const int m0 = static_cast<int>(tile.m) * Schedule::block_m;
  const int n0 = static_cast<int>(tile.n) * Schedule::block_n;

  const int tiles_k =
      arguments.alpha == 0.0f ? 0 : divide_up(problem.k, Schedule::block_k);  // 0: A, B unread
  const int slice_tiles = divide_up(tiles_k, Schedule::split_k);
  const int first_tile = slice * slice_tiles;
  const int k0 = first_tile * Schedule::block_k;

  // 64 bits from the matrices' origins to the block's tiles; Index is enough inside of those.
  const long long row_a = problem.lda, row_b = problem.ldb;
  const float* a =
      arguments.a + batch * problem.stride_a + (Problem::transpose_a ? k0 * row_a + m0 : m0 * row_a + k0);
  const float* b =
      arguments.b + batch * problem.stride_b + (Problem::transpose_b ? n0 * row_b + k0 : k0 * row_b + n0);
  const TileCopy<OperandA> copy_a(a, static_cast<Index>(row_a), problem.m - m0, problem.k - k0);
  const TileCopy<OperandB> copy_b(b, static_cast<Index>(row_b), problem.n - n0, problem.k - k0);

  const Position thread = thread_position(threadIdx.x);
  Accumulators sum;
  MainLoop(copy_a, copy_b, thread).run(sum, min(slice_tiles, tiles_k - first_tile));

  if constexpr (Schedule::split_k > 1) {
    const int all_tiles = static_cast<int>(gridDim.x) / Schedule::split_k;
    if (!reduce_slices(sum, arguments.workspace, batch * tiles + blockIdx.x % tiles, all_tiles, slice))
      return;
  }
  const int m = m0 + thread.m, n = n0 + thread.n;
  float* c = arguments.c + batch * problem.stride_c + static_cast<long long>(m) * problem.ldc + n;
  store_tile(c, static_cast<Index>(problem.ldc), problem.m - m, problem.n - n, sum, arguments.alpha,
             arguments.beta);
}
