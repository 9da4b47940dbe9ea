#pragma once
#include "cuda/tile_order.cuh"
#include "sgemm/epilogue.cuh"
#include "sgemm/fix_up.cuh"
#include "sgemm/main_loop.cuh"
#include "sgemm/tile_sums.cuh"
#include "sgemm/work.cuh"
// C = alpha·op(A)·op(B) + beta·C in FP32: a cluster of blocks computes tiles of C, or pieces of tiles.

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

// Sets `sum` to this thread's part of the products of a piece, whose tile is at m0, n0 in matrices of
// `batch`.
__device__ __forceinline__ void multiply_piece(Accumulators& sum, const Arguments& arguments,
                                               const Problem& problem, const Piece& piece, int m0, int n0,
                                               int batch, Position thread) {
  using Index = Problem::Index;
  const Piece share = piece.share();
  const int k0 = share.first * Schedule::block_k;
  // 64 bits from the matrices' origins to the block's tiles; Index is enough inside of those.
  const long long row_a = problem.lda, row_b = problem.ldb;
  const float* a =
      arguments.a + batch * problem.stride_a + (Problem::transpose_a ? k0 * row_a + m0 : m0 * row_a + k0);
  const float* b =
      arguments.b + batch * problem.stride_b + (Problem::transpose_b ? n0 * row_b + k0 : k0 * row_b + n0);
  const Supply<OperandA> supply_a(a, static_cast<Index>(row_a), problem.m - m0, problem.k - k0, thread.m);
  const Supply<OperandB> supply_b(b, static_cast<Index>(row_b), problem.n - n0, problem.k - k0, thread.n);
  const bool nothing = arguments.alpha == 0.0f || problem.k == 0;  // then A and B are not read
  sum = {};
  MainLoop(supply_a, supply_b).run(sum, nothing ? 0 : share.steps());
}

__device__ __forceinline__ void sgemm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  const int matrix_tiles = tiling.m * tiling.n, tiles = matrix_tiles * problem.batch;
  const Position thread = thread_position();
  const Work work(tiles, tiling.steps);
  for (int tile = work.first_tile(); tile < tiles; tile = work.next_tile(tile)) {
    const TilePosition position = grouped_tile<Schedule::group_m>(tile % matrix_tiles, tiling.m, tiling.n);
    const int batch = tile / matrix_tiles;
    const int m0 = static_cast<int>(position.m) * Schedule::block_m;
    const int n0 = static_cast<int>(position.n) * Schedule::block_n;
    const Piece piece = work.piece(tile);
    Accumulators sum;
    multiply_piece(sum, arguments, problem, piece, m0, n0, batch, thread);

    const int m = m0 + thread.m, n = n0 + thread.n;
    const auto leading = static_cast<Problem::Index>(problem.ldc);
    float* c = arguments.c + batch * problem.stride_c + static_cast<long long>(m) * problem.ldc + n;
    const TileSums sums(sum);
    const auto scaled = [&](Output::Batch& batch, int first) { sums.get(batch, first, arguments.alpha); };
    if (Schedule::grid_blocks == 0 || piece.steps() == tiling.steps) {
      store_tile(c, leading, problem.m - m, problem.n - n, arguments.beta, scaled);
    } else {
      const FixUp fix_up(arguments.workspace, work.sharers(tile));
      if (fix_up.leave(scaled)) {
        store_tile(c, leading, problem.m - m, problem.n - n, arguments.beta,
                   [&](Output::Batch& batch, int first) { fix_up.add_up(batch, first); });
      }
    }
    sums.release();
  }
}
