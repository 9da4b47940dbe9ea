#pragma once
#include "matmul/gemm/wgmma/stages.cuh"
// C by tensor copies: it takes the stages behind those of a tile, where its elements become those of D, which
// tensor copies store from there.

constexpr int tile_consumers = Schedule::pingpong ? 1 : Schedule::consumers;
constexpr int boxes_across = Schedule::block_n / parts / store_columns;
constexpr int consumer_boxes = products_m * boxes_across;
constexpr int stage_boxes = stage_bytes / (tile_consumers * store_bytes);  // those of a consumer
constexpr int residual_steps = (consumer_boxes - 1) / stage_boxes + 1;

// One of the boxes of a consumer's part of a tile.
struct ResidualBox {
  int number, consumer;
  int row, column;  // in the tile

  __device__ __forceinline__ ResidualBox(int number, int consumer)
      : number(number),
        consumer(consumer),
        row(consumer * consumer_rows + number / boxes_across * product_rows),
        column(number % boxes_across * store_columns) {}

  __device__ __forceinline__ unsigned char* elements(int stage) const {
    return Stages::tiles(stage) + (consumer * stage_boxes + number % stage_boxes) * store_bytes;
  }
};

// Where a box is in C and D.
struct ResidualPlace : MapPlace {
  __device__ __forceinline__ ResidualPlace(const Tile& tile, const ResidualBox& box)
      : MapPlace(tile.batch, tile.m + box.row, tile.n / parts + box.column) {}
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
      const ResidualBox box(step * stage_boxes + i % boxes, i / boxes);
      tensor_copy(box.elements(turn.stage()), arguments.map_c, ResidualPlace(tile, box).at, full);
    }
    turn.advance();
  }
}

// By each warp, when the boxes of the stage before have been read, but for so many newer ones.
template <int newer>
__device__ __forceinline__ void release_stored(Stages& stages, const Turn& turn) {
  if (threadIdx.x % warpgroup_threads == 0) store_wait_read<newer>();
  __syncwarp();
  stages.release(turn.previous());
}

// Makes D of the sums and C, and has tensor copies store it.
__device__ __forceinline__ void add_residual(const Arguments& arguments, const Problem& problem,
                                             const Tile& tile, const Consumer& own, const Accumulators& sums,
                                             Stages& stages, Turn& turn) {
#pragma unroll
  for (int step = 0; step < residual_steps; ++step) {
    stages.full[turn.stage()].wait(turn.parity());
#pragma unroll
    for (int i = 0; i < boxes_of(step); ++i) {
      const ResidualBox box(step * stage_boxes + i, own.row / consumer_rows);
      const SumRows rows(arguments, problem, tile, box.row);
      unsigned char* elements = box.elements(turn.stage());
      fill_buffer(elements, arguments, problem, sums.d[box.number / boxes_across] + box.column / 2, rows,
                  tile.n / parts + box.column + SumRows::column());
      proxy_fence();
      named_barrier(1 + own.number, warpgroup_threads);
      if (threadIdx.x % warpgroup_threads == 0) {
        tensor_store(arguments.map_d, ResidualPlace(tile, box).at, elements);
        store_commit();
      }
      if (step > 0 && i == 0) release_stored<1>(stages, turn);
    }
    turn.advance();
  }
  release_stored<0>(stages, turn);
}
