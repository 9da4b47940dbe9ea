#pragma once
#include "attention/attention/wgmma/stages.cuh"
#if tickets
#  include "cuda/tile_tickets.cuh"
#endif
// The thread that has tensor copies fill shared memory.

// Begins to copy boxes side by side, from a row of a head of a sequence on.
template <int boxes, int box_bytes>
__device__ __forceinline__ void copy_rows(unsigned char* target, const TensorMap& map, int sequence, int row,
                                          int head, Barrier& full) {
#pragma unroll
  for (int box = 0; box < boxes; ++box) {
    const int at[] = {sequence, row, head, box * row_elements};
    tensor_copy(target + box * box_bytes, map, at, full);
  }
}

// Has the queries of a tile copied, and then its keys and values.
__device__ __forceinline__ void copy_tile(const Arguments& arguments, const Problem& problem, Stages& stages,
                                          const Tile& tile, Turn& turn) {
  const int head = tile.head / problem.group;
  stages.queries_full.arrive_and_expect(query_bytes);
  copy_rows<key_boxes, query_box_bytes>(Stages::queries(), arguments.map_q, tile.sequence, tile.query,
                                        tile.head, stages.queries_full);
#pragma unroll 1
  for (int key = tile.begin; key < tile.end; key += Schedule::tile_keys) {
    const int stage = turn.stage();
    stages.keys_empty[stage].wait(turn.parity() ^ 1);
    stages.keys_full[stage].arrive_and_expect(key_bytes);
    copy_rows<key_boxes, key_box_bytes>(Stages::keys(stage), arguments.map_k, tile.sequence, key, head,
                                        stages.keys_full[stage]);
    stages.values_empty[stage].wait(turn.parity() ^ 1);
    stages.values_full[stage].arrive_and_expect(value_bytes);
    copy_rows<value_boxes, key_box_bytes>(Stages::values(stage), arguments.map_v, tile.sequence, key, head,
                                          stages.values_full[stage]);
    turn.advance();
  }
}

__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem, Stages& stages) {
  Turn turn;
#if grid_blocks == 0
  copy_tile(arguments, problem, stages, tile_at(problem, blockIdx.x), turn);
#else
  const int tiles = (problem.queries + block_rows - 1) / block_rows * problem.all_heads;
  unsigned parity = 1;  // of queries that have been read
  int index = blockIdx.x;
#  pragma unroll 1
  while (index < tiles) {
#  if tickets
    // Drawn ahead: the number is there when it is needed.
    const int next = gridDim.x + draw_tile(static_cast<unsigned long long*>(arguments.workspace), tiles).tile;
#  else
    const int next = index + gridDim.x;
#  endif
    stages.queries_empty.wait(parity);
    parity ^= 1;
    stages.tile = index;
    copy_tile(arguments, problem, stages, tile_at(problem, index), turn);
    index = next;
  }
  stages.queries_empty.wait(parity);
  stages.tile = -1;
  stages.queries_full.arrive();
#endif
}
