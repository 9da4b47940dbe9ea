#pragma once
#include "attention/attention_decode/latent/consumers.cuh"
// Attention of 64 rows with latent keys in a cache, by two warpgroups (sm_90a). Tensor copies bring tiles
// of keys to shared memory, where they are read as keys and as values, too.

// Attention of rows of a block with some of the keys that they see. `done` are tiles and parts before.
__device__ __forceinline__ void attend_part(const Arguments& arguments, const Problem& problem,
                                            const Scores& scores, const BlockRows& block,
                                            const Sequence& sequence, const Part& part, int2& done) {
  const int consumer = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  // Told by one lane, numbers are the same in a warp for the compiler, too, and branches count as uniform.
  const int begin = __shfl_sync(0xffffffffu, part.begin, 0), end = __shfl_sync(0xffffffffu, part.end, 0);
  const int tiles = (max(0, end - begin) + tile_keys - 1) / tile_keys;
  const PartTiles of_part{begin, end, tiles, done.x, done.y};
  ValueSums o = {};
  RowPair rows;
  if (tiles > 0 && consumer == 0) weigh_tiles(arguments, problem, scores, block, sequence, of_part, o, rows);
  if (tiles > 0 && consumer > 0) follow_tiles(arguments, problem, block, of_part, o);
  done.x += tiles, done.y += tiles > 0;
  __syncthreads();  // nobody reads queries, keys and weights any more
#if splits > 1 || grid_blocks
  if (part.count > 1) {
    const States parts = States(arguments.partials, all_states(problem)).from(part.first);
    leave_part(parts.from(part.number), o, rows, consumer, block.count);
    if (is_last_block(static_cast<int*>(arguments.workspace) + part.rows, part.count)) {
      add_parts(parts, part.count, scores.factor, o, rows, consumer, block.count);
      store_rows(arguments, problem, block, scores.factor, o, rows, consumer);
    }
  } else {
    store_rows(arguments, problem, block, scores.factor, o, rows, consumer);
  }
#else
  store_rows(arguments, problem, block, scores.factor, o, rows, consumer);
#endif
  if constexpr (sharers > 1) Shared::meet();
}

__device__ __forceinline__ void decode_latent_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
  if (threadIdx.x == 0) Shared::barriers().init();
  if (threadIdx.x == warpgroup_threads) prefetch_map(arguments.map_k);
#if one_query
  if (threadIdx.x == 0) prefetch_map(arguments.map_q);
#endif
  Shared::meet();
  int2 done = {};
  for_each_part<tile_keys>(arguments, problem,
                           [&](const BlockRows& rows, const Sequence& sequence, const Part& part) {
                             attend_part(arguments, problem, scores, rows, sequence, part, done);
                           });
}
