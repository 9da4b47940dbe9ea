#pragma once
#include "convolution/conv2d_input/wgmma_im2col/steps.cuh"  // ahead of those that ask for them
#include "cuda/im2col_copy.cuh"
#include "matmul/gemm/wgmma/stages.cuh"
// The thread that has tensor copies fill the stages: with some filters of a tap, of the pixels of the
// gradient that a tile's rows see there, and of the weight. Filters behind the last one are zeros.

__device__ __forceinline__ Tiling tiling_of_taps(const Problem& problem) {
  Tiling tiling(problem);
  tiling.steps = Phase(0).taps() * tap_steps(problem);
  return tiling;
}

// A step along k: a tap that a phase sees, and the first of its filters that a stage has.
struct TapStep {
  Phase phase;
  int row, column, filter;

  __device__ __forceinline__ TapStep(const Problem& problem, int number, int step) : phase(number) {
    const int steps = tap_steps(problem), tap = step / steps, taps = max(1, phase.w.count);
    row = tap / taps, column = tap % taps;
    filter = phase.taps() > 0 ? (step - tap * steps) * Schedule::block_k : problem.filters;
  }
  __device__ __forceinline__ void advance(const Problem& problem) {
    filter += Schedule::block_k;
    if (filter < problem.filters) return;
    filter = 0;
    if (++column < phase.w.count) return;
    column = 0, ++row;
  }
};

__device__ __forceinline__ void copy_pixels(unsigned char* tile, const TensorMap& map,
                                            const PhasePixel& pixel, const TapStep& step, Barrier& full) {
  const int tap[] = {step.phase.h.nearest - step.row * Problem::apart_h - Problem::lowest_h,
                     step.phase.w.nearest - step.column * Problem::apart_w - Problem::lowest_w};
#pragma unroll
  for (int box = 0; box < TileA::boxes; ++box) {
    const int at[] = {pixel.image, pixel.row + Problem::lowest_h, pixel.column + Problem::lowest_w,
                      step.filter + box * TileA::row_elements};
    im2col_copy(tile + box * TileA::box_bytes, map, at, tap, full);
  }
}

// Of the channels from `n` on, each block of the cluster copies a part, some filters, to all.
__device__ __forceinline__ void copy_filters(unsigned char* tile, const TensorMap& map, int n,
                                             const TapStep& step, Barrier& full) {
  constexpr unsigned short everyone = (1u << Schedule::cluster_m) - 1;
  const int first = rank_m() * TileB::box_rows, tap = step.phase.tap(step.row, step.column);
#pragma unroll
  for (int box = 0; box < TileB::boxes; ++box) {
    unsigned char* target = tile + box * TileB::box_bytes + first * TileB::row_bytes;
    const int at[] = {step.filter + first, tap, n + box * TileB::row_elements};
    if constexpr (Schedule::cluster_m == 1) {
      tensor_copy(target, map, at, full);
    } else {
      tensor_copy_to_ranks(target, map, at, full, everyone);
    }
  }
}

__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem,
                                        const Tiling& tiling, Stages& stages) {
  Turn turn;
  for_each_tile(problem, tiling, [&](const Tile& tile, const WorkUnit& unit, const Peers&) {
    const PhasePixel pixel(problem, tile.m);
    TapStep tap(problem, tile.batch, unit.first);
#pragma unroll 1
    for (int step = unit.first; step < unit.last; ++step) {
      unsigned char* tiles = Stages::tiles(turn.stage());
      Barrier& full = stages.full[turn.stage()];
      stages.empty[turn.stage()].wait(turn.parity() ^ 1);
      full.arrive_and_expect(stage_bytes);
      copy_pixels(tiles, arguments.map_a, pixel, tap, full);
      copy_filters(tiles + TileA::bytes, arguments.map_b, tile.n, tap, full);
      tap.advance(problem);
      turn.advance();
    }
  });
}
