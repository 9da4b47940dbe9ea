#pragma once
#include "cuda/tile_order.cuh"
#include "matmul/sgemm/epilogue.cuh"
#include "matmul/sgemm/fix_up.cuh"
#include "matmul/sgemm/main_loop.cuh"
#include "matmul/sgemm/tile_sums.cuh"
#include "matmul/sgemm/work.cuh"
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

// In which order a block goes through its steps along k: from `first` on, the second one `jump` from there.
// Where the rest is to come first, a block that has the last step of all begins with it. The step after it,
// if there is none, is the one before it: a loop without branches copies that too.
struct StepOrder {
  int first;
  int jump;

  __device__ __forceinline__ StepOrder(const Piece& share, int steps) : first(share.first), jump(1) {
    if (Problem::rest_first && share.last == steps) {
      first = share.last - 1;
      jump = -max(1, share.steps() - 1);
    } else if (Problem::rest_first && share.steps() == 1) {
      jump = 0;
    }
  }
};

// Sets `sum` to this thread's part of the products of a piece, whose tile is at m0, n0 in matrices of `batch`
// and has as many `steps` along k.
__device__ __forceinline__ void multiply_piece(Accumulators& sum, const Arguments& arguments,
                                               const Problem& problem, const Piece& piece, int steps, int m0,
                                               int n0, int batch, Position thread) {
  using Index = Problem::Index;
  const Piece share = piece.share();
  const StepOrder order(share, steps);
  const int k0 = order.first * Schedule::block_k;
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
  MainLoop(supply_a, supply_b).run(sum, nothing ? 0 : share.steps(), order.jump);
}

// The first word of a tile along a dimension of some size, and how many words from there on are left to the
// tile before: all that both cover, where the last tile lies over its neighbour rather than stick out.
struct TileStart {
  int origin;
  int skip;

  __device__ __forceinline__ TileStart(int tile, int tile_size, int size, bool slide)
      : origin(slide ? min(tile * tile_size, size - tile_size) : tile * tile_size),
        skip(tile * tile_size - origin) {}
};

__device__ __forceinline__ void sgemm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Tiling tiling(problem);
  const int matrix_tiles = tiling.m * tiling.n, tiles = matrix_tiles * problem.batch;
  const Position thread = thread_position();
  const Work work(tiles, tiling.steps);
  for (int tile = work.first_tile(); tile < tiles; tile = work.next_tile(tile)) {
    const int batch = Problem::batched ? tile / matrix_tiles : 0;
    const TilePosition position =
        grouped_tile<Schedule::raster_group>(tile - batch * matrix_tiles, tiling.m, tiling.n);
    const TileStart start_m(position.m, Schedule::block_m, problem.m, Problem::slide_m);
    const TileStart start_n(position.n, Schedule::block_n, problem.n, Problem::slide_n);
    const Piece piece = work.piece(tile);
    Accumulators sum;
    multiply_piece(sum, arguments, problem, piece, tiling.steps, start_m.origin, start_n.origin, batch,
                   thread);

    const int m = start_m.origin + thread.m, n = start_n.origin + thread.n;
    const Window window{{start_m.skip - thread.m, problem.m - m}, {start_n.skip - thread.n, problem.n - n}};
    const auto leading = static_cast<Problem::Index>(problem.ldc);
    float* c = arguments.c + batch * problem.stride_c + static_cast<long long>(m) * problem.ldc + n;
    const TileSums sums(sum);
    const auto scaled = [&](Output::Batch& batch, int first) { sums.get(batch, first, arguments.alpha); };
    if (Schedule::grid_blocks == 0 || piece.steps() == tiling.steps) {
      store_tile(c, leading, window, arguments.beta, scaled);
    } else {
      const FixUp fix_up(arguments.workspace, work.sharers(tile));
      if (fix_up.leave(scaled)) {
        store_tile(c, leading, window, arguments.beta,
                   [&](Output::Batch& batch, int first) { fix_up.add_up(batch, first); });
      }
    }
    sums.release();
  }
}
