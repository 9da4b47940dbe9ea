#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/candidates.cuh"
#include "vision/nms/choose.cuh"
// A cluster of blocks for each image. Each block sorts all scores. Then the boxes go through in chunks: the
// blocks share the comparisons with those that are kept so far, and of the chunk's boxes with each other; the
// first block finds those that are kept.

constexpr int threads = Schedule::threads, chunk = Schedule::chunk, blocks = Schedule::cluster;
constexpr int chunk_tiles = chunk / tile, warps = threads / 32;

#include "cuda/sort_entries.cuh"
#include "vision/nms/cluster.cuh"

struct Shared {
  Entry* entries;   // `slots` of them
  Candidates kept;  // as many as an image keeps
  Candidates own;   // those of the chunk
  unsigned*
      masks;  // of each pair of tiles, for each box of the later one, those of the earlier that suppress it
  unsigned* known;   // of each tile, the boxes that are out; room for `choose_boxes`
  unsigned* chosen;  // of each tile, the boxes that are kept

  __device__ __forceinline__ explicit Shared(int most_kept) {
    entries = dynamic_shared<Entry>();
    kept.corners = reinterpret_cast<float4*>(entries + Schedule::slots);
    own.corners = kept.corners + most_kept;
    masks = reinterpret_cast<unsigned*>(own.corners + chunk);
    known = masks + pairs_of_tiles(chunk_tiles) * tile;
    chosen = known + known_words * chunk_tiles;
#if classed
    kept.ids = reinterpret_cast<ClassId*>(chosen + chunk_tiles);
    own.ids = kept.ids + most_kept;
#endif
  }
};

// The boxes of a chunk, in order, and which are none.
__device__ __forceinline__ void load_chunk(const Arguments& arguments, const Shared& shared, long long image,
                                           const Entry* entries) {
  for (int i = threadIdx.x; i < chunk; i += threads) {
    const Entry entry = entries[i];
    if (entry != 0) shared.own.set(i, load_candidate(arguments, image, index_of(entry)));
    const unsigned there = __ballot_sync(0xffffffffu, entry != 0);
    if (i % tile == 0) shared.known[i / tile] = ~there;
  }
}

// Compares boxes of a chunk with `kept` others and with each other, a tile with a tile in each warp.
__device__ __forceinline__ void compare_chunk(const Shared& shared, int some, int kept,
                                              const OverlapTest& test) {
  const int lane = threadIdx.x % 32, tiles = (some + 2 * tile - 1) / (2 * tile) * 2;
  const int others = (kept + tile - 1) / tile, with_others = tiles * others;
  const int all = with_others + pairs_of_tiles(tiles);
  unsigned* dead = of_block(shared.known, 0);
  unsigned* masks = of_block(shared.masks, 0);
  for (int i = threadIdx.x / 32 * blocks + rank_of_block(); i < all; i += warps * blocks) {
    const bool of_kept = i < with_others;
    const TilePair pair = of_kept ? TilePair{i % tiles, i / tiles} : pair_of(i - with_others, tiles);
    const int box = pair.later * tile + lane, first = pair.earlier * tile;
    const int left = (of_kept ? kept : some) - first, count = left < tile ? left : tile;
    const Candidate own = shared.own.get(box < some ? box : 0);
    const Candidates others = one_of(of_kept, shared.kept, shared.own);
    unsigned killers = killers_of(others, first, count, own, test);
    if (of_kept) {
      const unsigned dies = __ballot_sync(0xffffffffu, box < some && killers != 0);
      if (lane == 0 && dies != 0) atomicOr(dead + pair.later, dies);
    } else {
      if (pair.earlier == pair.later) killers &= (1u << lane) - 1;
      masks[place_of(pair) * tile + lane] = killers;
    }
  }
}

// The first block finds the boxes that are kept, and tells all blocks.
__device__ __forceinline__ void choose_of_chunk(const Shared& shared, int some) {
  const unsigned chosen = choose_boxes<warps, chunk_tiles>(shared.masks, shared.known, some);
  const int lane = threadIdx.x % 32;
  const bool tells = threadIdx.x < 32 && lane < chunk_tiles;
  for (int rank = 0; rank < blocks && tells; ++rank) *of_block(shared.chosen + lane, rank) = chosen;
}

__device__ __forceinline__ void nms_block(const Arguments& arguments) {
  const long long image = blockIdx.x / blocks;
  const int count = candidates_of(arguments, image), most = arguments.max_output;
  const OverlapTest test(arguments.iou_threshold);
  const Shared shared(most < arguments.candidates ? most : arguments.candidates);
  int slots = chunk;
  while (slots < count) slots *= 2;
  for (int i = threadIdx.x; i < slots; i += threads) {
    shared.entries[i] = i < count ? entry_of(arguments, image, i) : 0;
  }
  __syncthreads();
  sort_entries(shared.entries, slots);
  int kept = 0;
  for (int first = 0; first < count && kept < most && shared.entries[first] != 0; first += chunk) {
    const int some = count - first < chunk ? count - first : chunk;
    load_chunk(arguments, shared, image, shared.entries + first);
    barrier_of_blocks();
    compare_chunk(shared, some, kept, test);
    barrier_of_blocks();
    if (rank_of_block() == 0) choose_of_chunk(shared, some);
    barrier_of_blocks();
    kept += for_each_chosen<chunk_tiles, warps>(shared.chosen, [&](int box, int rank) {
      const int place = kept + rank;
      if (place >= most) return;
      shared.kept.set(place, shared.own.get(box));
      if (rank_of_block() == 0)
        arguments.indices[image * most + place] = index_of(shared.entries[first + box]);
    });  // a thread keeps the boxes that it loads next
  }
  if (rank_of_block() == 0 && threadIdx.x == 0) arguments.kept[image] = kept < most ? kept : most;
}
