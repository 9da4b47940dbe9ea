#pragma once
#include "attention/attention/wgmma/stages.cuh"
#if tickets
#  include "cuda/tile_tickets.cuh"
#endif
// The thread that has tensor copies fill shared memory.

// Has the queries of a tile copied, and then its keys and values.
__device__ __forceinline__ void copy_tile(const Arguments& arguments, const Problem& problem, Stages& stages,
                                          const Tile& tile, Turn<Schedule::stages>& turn) {
  const int head = tile.head / problem.group;
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const MappedRows queries = mapped_rows(tile.batch, sequence.query_base, sequence.queries, problem.queries);
  const MappedRows keys = mapped_rows(tile.batch, sequence.key_base, sequence.keys, problem.keys);
  stages.queries_full.arrive_and_expect(query_bytes);
  copy_boxes<key_boxes, query_box_bytes>(Stages::queries(), arguments.map_q, queries, tile.query, tile.head,
                                         stages.queries_full);
#pragma unroll 1
  for (int key = tile.begin; key < tile.end; key += Schedule::tile_keys) {
#if masked
    if (!may_see(arguments, problem, tile, key)) continue;
#endif
    const int stage = turn.stage();
    stages.keys_empty[stage].wait(turn.parity() ^ 1);
    stages.keys_full[stage].arrive_and_expect(key_bytes);
    copy_boxes<key_boxes, key_box_bytes>(Stages::keys(stage), arguments.map_k, keys, key, head,
                                         stages.keys_full[stage]);
    stages.values_empty[stage].wait(turn.parity() ^ 1);
    stages.values_full[stage].arrive_and_expect(value_bytes);
    copy_boxes<value_boxes, key_box_bytes>(Stages::values(stage), arguments.map_v, keys, key, head,
                                           stages.values_full[stage]);
    turn.advance();
  }
}

#if grid_blocks > 0
// The tile that the block takes after another one.
__device__ __forceinline__ int tile_after(const Arguments& arguments, int index, int tiles) {
#  if tickets
  const auto drawn = [&] {
    return gridDim.x + draw_tile(static_cast<unsigned long long*>(arguments.workspace), tiles).tile;
  };
#    if segmented
  return __shfl_sync(0xffffffffu, threadIdx.x == 0 ? drawn() : 0, 0);
#    else
  return drawn();
#    endif
#  else
  return index + gridDim.x;
#  endif
}
#endif

// By one thread; of packed sequences by a warp, which finds their tiles, and whose first thread copies.
__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem, Stages& stages) {
  Turn<Schedule::stages> turn;
#if grid_blocks == 0
  const Tile tile = tile_at(arguments, problem, blockIdx.x);
#  if segmented
  if (threadIdx.x > 0 || tile.query < 0) return;
#  endif
  copy_tile(arguments, problem, stages, tile, turn);
#else
  const int tiles = tiles_of_all(problem);
  unsigned parity = 1;  // of queries that have been read
  int next;
#  pragma unroll 1
  for (int index = blockIdx.x; index < tiles; index = next) {
    next = tile_after(arguments, index, tiles);  // drawn ahead: the number is there when it is needed
    const Tile tile = tile_at(arguments, problem, index);
#  if segmented
    if (threadIdx.x > 0 || tile.query < 0) continue;  // a lane that waits late may miss a phase
#  endif
    stages.queries_empty.wait(parity);
    parity ^= 1;
#  if segmented
    stages.tile = tile;
#  else
    stages.tile = index;
#  endif
    copy_tile(arguments, problem, stages, tile, turn);
  }
#  if segmented
  if (threadIdx.x > 0) return;
  stages.queries_empty.wait(parity);
  stages.tile.query = -1;
#  else
  stages.queries_empty.wait(parity);
  stages.tile = -1;
#  endif
  stages.queries_full.arrive();
#endif
}
