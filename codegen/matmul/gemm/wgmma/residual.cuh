#pragma once
#include "matmul/gemm/wgmma/stages.cuh"
// C by tensor copies: it takes the stages behind those of a tile, where its elements become those of D, which
// tensor copies store from there.

constexpr int tile_consumers = Schedule::pingpong ? 1 : Schedule::consumers;
constexpr int boxes_across = Schedule::block_n / parts / store_columns;
constexpr int consumer_boxes = products_m * boxes_across;
constexpr int stage_boxes = stage_bytes / (tile_consumers * store_bytes);  // of a consumer
constexpr int residual_steps = (consumer_boxes - 1) / stage_boxes + 1;

// One of the boxes of a consumer's part of a tile.
struct ResidualBox {
  int row, column;  // in the tile
  unsigned char* elements;

  __device__ __forceinline__ ResidualBox(int stage, int number, int consumer)
      : row(consumer * consumer_rows + number / boxes_across * product_rows),
        column(number % boxes_across * store_columns),
        elements(Stages::tiles(stage) + (consumer * stage_boxes + number % stage_boxes) * store_bytes) {}
};

// How many boxes a consumer has in a step.
__device__ constexpr int boxes_of(int step) {
  return step < residual_steps - 1 ? stage_boxes : consumer_boxes - step * stage_boxes;
}

// Begins to copy the tile's part of C.
__device__ __forceinline__ void copy_residual(const Arguments& arguments, const Tile& tile, Stages& stages,
                                              Turn& turn) {
#pragma unroll 1
  for (int step = 0; step < residual_steps; ++step) {
    const int boxes = boxes_of(step);
    Barrier& full = stages.full[turn.stage()];
    stages.empty[turn.stage()].wait(turn.parity() ^ 1);
    full.arrive_and_expect(tile_consumers * boxes * (product_rows * store_row_bytes));
#pragma unroll 1
    for (int i = 0; i < tile_consumers * boxes; ++i) {
      const ResidualBox box(turn.stage(), step * stage_boxes + i % boxes, i / boxes);
#if batched
      const int at[] = {tile.batch, tile.m + box.row, tile.n / parts + box.column};
#else
      const int at[] = {tile.m + box.row, tile.n / parts + box.column};
#endif
      tensor_copy(box.elements, arguments.map_c, at, full);
    }
    turn.advance();
  }
}

#if pingpong
// Waits until C is there.
__device__ __forceinline__ void wait_for_residual(Stages& stages, Turn turn) {
#  pragma unroll
  for (int step = 0; step < residual_steps; ++step) {
    stages.full[turn.stage()].wait(turn.parity());
    turn.advance();
  }
}

#endif
// Makes D of the sums and C, and has tensor copies store it.
__device__ __forceinline__ void add_residual(const Arguments& arguments, const Problem& problem,
                                             const Tile& tile, const Consumer& own, const Accumulators& sums,
                                             Stages& stages, Turn& turn) {
  const bool storing = threadIdx.x % warpgroup_threads == 0;
#pragma unroll
  for (int step = 0; step < residual_steps; ++step) {
    stages.full[turn.stage()].wait(turn.parity());
#pragma unroll
    for (int i = 0; i < boxes_of(step); ++i) {
      const int number = step * stage_boxes + i;
      const ResidualBox box(turn.stage(), number, own.row / consumer_rows);
      const SumRows rows(arguments, problem, tile, box.row);
      fill_buffer(box.elements, arguments, problem, sums.d[number / boxes_across] + box.column / 2, rows,
                  tile.n / parts + box.column + SumRows::column());
      proxy_fence();
      named_barrier(1 + own.number, warpgroup_threads);
      if (storing) {
#if batched
        tensor_store(arguments.map_d, {tile.batch, tile.m + box.row, tile.n / parts + box.column},
                     box.elements);
#else
        tensor_store(arguments.map_d, {tile.m + box.row, tile.n / parts + box.column}, box.elements);
#endif
        store_commit();
      }
    }
    if (storing) store_wait_read<0>();
    __syncwarp();
    stages.release(turn.stage());
    turn.advance();
  }
}
