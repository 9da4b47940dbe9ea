#pragma once
#include "cuda/im2col_copy.cuh"
#include "matmul/gemm/wgmma/stages.cuh"
#if residual_ring
#  include "matmul/gemm/wgmma/residual_ring.cuh"
#elif residual_stages
#  include "matmul/gemm/wgmma/residual.cuh"
#endif
// The thread that has tensor copies fill the stages: with some channels of a tap, of the pixels that a tile's
// rows meet there, and of the filters. Channels behind the last one are zeros.

// Channels of a tap; with `joined`, those of all taps of a row of a filter are one's.
__device__ __forceinline__ int tap_channels(const Problem& problem) {
#if joined
  return Problem::joined_channels;
#else
  return problem.channels;
#endif
}

// Steps along k for each tap.
__device__ __forceinline__ int tap_steps(const Problem& problem) {
  return (tap_channels(problem) - 1u) / Schedule::block_k + 1;
}

__device__ __forceinline__ Tiling tiling_of_taps(const Problem& problem) {
  Tiling tiling(problem);
  tiling.steps = Problem::kernel_h * Problem::kernel_w * tap_steps(problem);
  return tiling;
}

// Where the copies of a tile begin in X, under the first tap.
struct BasePixel {
  int image, row, column;
#if volumes
  int slice;
#endif

  __device__ __forceinline__ BasePixel(const Problem& problem, int pixel) {
    const int line = pixel / problem.out_width;
#if volumes
    const int plane = line / problem.out_height;
    image = plane / problem.out_depth;
    slice = (plane - image * problem.out_depth) * Problem::stride_t - Problem::padding_t;
    row = (line - plane * problem.out_height) * Problem::stride_h - Problem::padding_h;
#else
    image = line / problem.out_height;
    row = (line - image * problem.out_height) * Problem::stride_h - Problem::padding_h;
#endif
    column = (pixel - line * problem.out_width) * Problem::stride_w - Problem::padding_w;
  }
};

// A step along k: a tap, and the first of its channels that a stage has.
struct TapStep {
  int row, column, channel;

  __device__ __forceinline__ TapStep(const Problem& problem, int step) {
    const int steps = tap_steps(problem), tap = step / steps;
    row = tap / Problem::kernel_w, column = tap % Problem::kernel_w;
    channel = (step - tap * steps) * Schedule::block_k;
  }
  __device__ __forceinline__ void advance(const Problem& problem) {
    channel += Schedule::block_k;
    if (channel < tap_channels(problem)) return;
    channel = 0;
    if (++column < Problem::kernel_w) return;
    column = 0, ++row;
  }
};

__device__ __forceinline__ void copy_pixels(unsigned char* tile, const TensorMap& map, const BasePixel& pixel,
                                            const TapStep& step, Barrier& full) {
#if volumes
  const int tap[] = {step.row / Problem::filter_rows * Problem::dilation_t,
                     step.row % Problem::filter_rows * Problem::dilation_h,
                     step.column * Problem::dilation_w};
#else
  const int tap[] = {step.row * Problem::dilation_h, step.column * Problem::dilation_w};
#endif
#pragma unroll
  for (int box = 0; box < TileA::boxes; ++box) {
#if volumes
    const int at[] = {pixel.image, pixel.slice, pixel.row, pixel.column,
                      step.channel + box * TileA::row_elements};
#else
    const int at[] = {pixel.image, pixel.row, pixel.column, step.channel + box * TileA::row_elements};
#endif
    im2col_copy(tile + box * TileA::box_bytes, map, at, tap, full);
  }
}

// Of the filters from `n` on, each block of the cluster copies a part to all.
__device__ __forceinline__ void copy_filters(unsigned char* tile, const TensorMap& map, int n,
                                             const TapStep& step, Barrier& full) {
  constexpr unsigned short everyone = (1u << Schedule::cluster_m) - 1;
  const int first = rank_m() * TileB::box_rows, tap = step.row * Problem::kernel_w + step.column;
#pragma unroll
  for (int box = 0; box < TileB::boxes; ++box) {
    unsigned char* target = tile + box * TileB::box_bytes + first * TileB::row_bytes;
    const int at[] = {n + first, tap, step.channel + box * TileB::row_elements};
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
    const BasePixel pixel(problem, tile.m);
    TapStep tap(problem, unit.first);
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
#if residual_stages && !residual_ring
    copy_residual(arguments, tile, stages, turn);
#endif
  });
}
