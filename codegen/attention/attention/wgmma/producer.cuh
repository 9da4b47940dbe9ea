#pragma once
#if grid_blocks > 0
#  include "attention/attention/wgmma/next_tiles.cuh"
#else
#  include "attention/attention/wgmma/stages.cuh"
#endif
// The thread that has tensor copies fill shared memory.

// Has the queries of a tile copied, each part as soon as its consumers need no earlier ones.
__device__ __forceinline__ void copy_queries(const Arguments& arguments, const Problem& problem,
                                             Stages& stages, const Tile& tile, Turn<1>& turn) {
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const MappedRows rows = mapped_rows(tile.batch, sequence.query_base, sequence.queries, problem.queries);
#pragma unroll
  for (int part = 0; part < query_parts; ++part) {
    Barrier& full = stages.queries_full[part];
    stages.queries_empty[part].wait(turn.parity() ^ 1);
#if grid_blocks > 0
    stages.tile[part] = tile;
#endif
#if queries_apart
    const int first = tile.query + part * part_rows / packed;
    // Its consumer sits out. Nor may a box of packed sequences begin outside: their map begins ahead of the
    // tensor, where there need be no memory, and copies failed there.
    if (first >= sequence.queries) {
      full.arrive();
      continue;
    }
    full.arrive_and_expect(query_bytes);
#else
    full.arrive_and_expect(query_bytes);
    const int first = tile.query + part * part_rows / packed;
#endif
    copy_boxes<key_boxes, query_box_bytes>(Stages::queries(part), arguments.map_q, rows, first, tile.head,
                                           full);
  }
  turn.advance();
}

// Has keys, queries and values of a tile copied. The first keys come ahead of its queries, whose room
// the tile before may take longer.
__device__ __forceinline__ void copy_tile(const Arguments& arguments, const Problem& problem, Stages& stages,
                                          const Tile& tile, Turn<Schedule::stages>& turn,
                                          Turn<1>& of_queries) {
  const int head = tile.head / problem.group;
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const MappedRows rows = mapped_rows(tile.batch, sequence.key_base, sequence.keys, problem.keys);
  const auto copy_keys = [&](int key) {
    Barrier& full = stages.keys_full[turn.stage()];
    stages.keys_empty[turn.stage()].wait(turn.parity() ^ 1);
    full.arrive_and_expect(key_bytes);
    copy_boxes<key_boxes, key_box_bytes>(Stages::keys(turn.stage()), arguments.map_k, rows, key, head, full);
  };
  const auto copy_values = [&](int key) {
    Barrier& full = stages.values_full[turn.stage()];
    stages.values_empty[turn.stage()].wait(turn.parity() ^ 1);
    full.arrive_and_expect(value_bytes);
    copy_boxes<value_boxes, key_box_bytes>(Stages::values(turn.stage()), arguments.map_v, rows, key, head,
                                           full);
    turn.advance();
  };
  if (tile.begin < tile.end) copy_keys(tile.begin);
  copy_queries(arguments, problem, stages, tile, of_queries);
  if (tile.begin < tile.end) copy_values(tile.begin);
#pragma unroll 1
  for (int key = tile.begin + Schedule::tile_keys; key < tile.end; key += Schedule::tile_keys) {
#if masked
    if (!may_see(arguments, problem, tile, key)) continue;
#endif
    copy_keys(key);
    copy_values(key);
  }
}

// By one thread; of packed sequences without blocks that stay by a warp, which finds the tile.
__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem, Stages& stages) {
  Turn<Schedule::stages> turn;
  Turn<1> of_queries;
#if grid_blocks == 0
  const Tile tile = tile_at(arguments, problem, blockIdx.x);
#  if segmented
  if (threadIdx.x > 0 || tile.query < 0) return;
#  endif
  copy_tile(arguments, problem, stages, tile, turn, of_queries);
#else
#  if segmented
  Turn<1> found;
#    pragma unroll 1
  while (true) {
    stages.found_full.wait(found.parity());
    const Tile tile = stages.found;
    stages.found_empty.arrive();
    found.advance();
    if (tile.query < 0) break;
    copy_tile(arguments, problem, stages, tile, turn, of_queries);
  }
#  else
  const int tiles = tiles_of_all(problem);
  int next;
#    pragma unroll 1
  for (int index = blockIdx.x; index < tiles; index = next) {
    next = tile_after(arguments, index, tiles);  // drawn ahead: the number is there when it is needed
    copy_tile(arguments, problem, stages, tile_at(arguments, problem, index), turn, of_queries);
  }
#  endif
#  pragma unroll
  for (int part = 0; part < query_parts; ++part) {
    stages.queries_empty[part].wait(of_queries.parity() ^ 1);
    stages.tile[part].query = -1;
    stages.queries_full[part].arrive();
  }
#endif
}
