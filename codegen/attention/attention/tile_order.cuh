#pragma once
#include "attention/attention/scores.cuh"
// Which queries of which head a block has, and which keys these see.

// Queries of a head, and the keys that any of them sees: from `begin` on, up to the one before `end`.
struct Tile {
  int sequence;
  int head;
  int query;
  int begin;
  int end;
};

// Tiles of `rows` queries. Heads are taken in groups of heads_together, whose keys and values L2 should hold.
// Of a group, the tiles that see the most keys come first: where the last keys are not seen, the last ones.
template <int rows, int heads_together>
__device__ __forceinline__ Tile tile_at(const Problem& problem, int index, int tiles_of_head, int all_heads) {
  const int of_group = heads_together * tiles_of_head;
  const int group = index / of_group, place = index % of_group;
  const int heads = min(heads_together, all_heads - group * heads_together);
  const int number = place / heads, head = group * heads_together + place % heads;
  const int query = (Problem::bounded_right ? tiles_of_head - 1 - number : number) * rows;
  const int last = min(query + rows, problem.queries) - 1;
  return {head / problem.heads, head % problem.heads, query, first_key(problem, query),
          keys_end(problem, last)};
}
