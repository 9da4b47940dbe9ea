#pragma once
#include "cuda/im2col_copy.cuh"
#include "matmul/gemm/wgmma/stages.cuh"
// The thread that has tensor copies fill the stages, with some pixels of the gradient, and of what the terms
// of a tile see there. Pixels behind the last one are zeros.

__device__ __forceinline__ Tiling tiling_of_taps(const Problem& problem) { return Tiling(problem); }

// The terms of a box of a tile of B: some channels under one tap.
struct TermBox {
  int tap[2];
  int channel;

  TermBox() = default;
  // Behind the last term it is of the last tap, for which nothing is stored.
  __device__ __forceinline__ TermBox(const Problem& problem, int term) {
    const int number = min(term / problem.channels, Problem::kernel_h * Problem::kernel_w - 1);
    channel = term % problem.channels;
    tap[0] = number / Problem::kernel_w * Problem::dilation_h;
    tap[1] = number % Problem::kernel_w * Problem::dilation_w;
  }
};

__device__ __forceinline__ void copy_terms(unsigned char* tile, const TensorMap& map, const Problem& problem,
                                           const TermBox (&terms)[TileB::boxes], int pixel, Barrier& full) {
  const int line = pixel / problem.out_width, image = line / problem.out_height;
  const int row = (line - image * problem.out_height) * Problem::stride_h - Problem::padding_h;
  const int column = (pixel - line * problem.out_width) * Problem::stride_w - Problem::padding_w;
#pragma unroll
  for (int box = 0; box < TileB::boxes; ++box)
    im2col_copy(tile + box * TileB::box_bytes, map, {image, row, column, terms[box].channel}, terms[box].tap,
                full);
}

__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem,
                                        const Tiling& tiling, Stages& stages) {
  constexpr unsigned short sharers = (1u << Schedule::cluster_n) - 1;  // of the gradient
  Turn turn;
  for_each_tile(problem, tiling, [&](const Tile& tile, const WorkUnit& unit, const Peers&) {
    TermBox terms[TileB::boxes];
#pragma unroll
    for (int box = 0; box < TileB::boxes; ++box)
      terms[box] = TermBox(problem, tile.n + box * TileB::row_elements);
#pragma unroll 1
    for (int step = unit.first; step < unit.last; ++step) {
      const int pixel = step * Schedule::block_k;
      unsigned char* tiles = Stages::tiles(turn.stage());
      Barrier& full = stages.full[turn.stage()];
      stages.empty[turn.stage()].wait(turn.parity() ^ 1);
      full.arrive_and_expect(stage_bytes);
      TileA::copy(tiles, arguments.map_a, 0, tile.m, pixel, rank_n(), sharers, full);
      copy_terms(tiles + TileA::bytes, arguments.map_b, problem, terms, pixel, full);
      turn.advance();
    }
  });
}
