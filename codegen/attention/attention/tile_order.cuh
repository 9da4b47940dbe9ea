#pragma once
#include "attention/attention/sequence.cuh"
#if segmented
#  include "attention/attention/packed_tiles.cuh"
#endif
#if ranged
#  include "attention/fragments/extremes.cuh"
#endif
// Which queries of which head a block has, and which keys these see.

// Queries of a head, and the keys that any of them sees: from `begin` on, up to the one before `end`.
struct Tile {
  int batch;  // along the axis b; 0 of packed sequences
  int head;
  int query;
  int begin;
  int end;
#if segmented
  Sequence sequence;
#endif
};

// Where a row of a tile is, of whose rows each `heads` neighbours are one query of as many heads.
struct RowPlace {
  int query;
  int head;
};
template <int heads>
__device__ __forceinline__ RowPlace place_of(const Tile& tile, int row) {
  return {tile.query + row / heads, tile.head + row % heads};
}

// That of a tile. Where all are alike, it is made where it is read: nvcc orders better what it need not keep.
__device__ __forceinline__ Sequence sequence_of(const Arguments& arguments, const Problem& problem,
                                                const Tile& tile) {
#if segmented
  return tile.sequence;
#else
  return Sequence(arguments, problem, tile.batch);
#endif
}

#if masked
// What the mask is for `rows` queries of a tile from `query` on, and keys from `key` on.
__device__ __forceinline__ Problem::Chance chance_of(const Arguments& arguments, const Problem& problem,
                                                     const Tile& tile, int query, int rows, int key) {
  const Sequence sequence = sequence_of(arguments, problem, tile);
  return Problem::chance(arguments, sequence.number, tile.head,
                         {query, min(query + rows, sequence.queries) - 1},
                         {key, min(key + Schedule::tile_keys, sequence.keys) - 1});
}
#endif

// Tiles of `rows` queries that a head has; of packed sequences, as many as it may have.
template <int rows>
__device__ __forceinline__ int tiles_of_head(const Problem& problem) {
#if segmented
  return most_tiles<rows>(problem, problem.queries);
#else
  return (problem.queries + rows - 1) / rows;
#endif
}

// Tiles of `rows` rows, which are queries of `packed` heads that share keys: `head` is the first of them. Of
// heads, or of packs of them, `together` are a group, whose keys and values L2 should hold. Of a group, the
// tiles that see the most keys come first: where the last keys are not seen, the last ones.
// Other packed sequences come in their order; where there is no tile, its query is less than 0.
template <int rows, int packed = 1>
__device__ __forceinline__ Tile tile_at(const Arguments& arguments, const Problem& problem, int index,
                                        int together) {
  constexpr int queries = rows / packed;
  const int of_head = tiles_of_head<queries>(problem), of_group = together * of_head;
  const int group = index / of_group, place = index % of_group;
  const int heads = min(together, problem.all_heads / packed - group * together);
  const int number = place / heads, head = (group * together + place % heads) * packed;
#if segmented
#  if bounded_right && !bounded_left
  const Found found = find_longest_tile<queries>(arguments, problem, number);
#  else
  const Found found = find_tile<queries>(arguments, problem, number);
#  endif
  const Sequence sequence(arguments, problem, found.sequence);
  const int query = found.number * queries, last = min(query + queries, sequence.queries) - 1;
  return {0, head, query, sequence.first_key(query), sequence.keys_end(last), sequence};
#else
  const Sequence sequence(arguments, problem, 0);
  const int query = (Problem::bounded_right ? of_head - 1 - number : number) * queries;
  const int last = min(query + queries, sequence.queries) - 1;
  return {head / problem.heads, head % problem.heads, query, sequence.first_key(query),
          sequence.keys_end(last)};
#endif
}
