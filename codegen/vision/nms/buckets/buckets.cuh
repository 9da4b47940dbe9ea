#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/choose.cuh"
#include "vision/nms/pairs.cuh"
// Boxes class by class. `order` is that of the scores. Boxes in this order have a bucket each, by their
// class; `by_bucket` has their places, bucket by bucket. A cluster goes through a bucket in chunks, and marks
// in `chosen` the places of those that are kept. Buckets are of several classes where there are many.

constexpr int threads = Schedule::threads, warps = threads / 32, chunk = Schedule::chunk,
              blocks = Schedule::cluster;
constexpr int chunk_tiles = chunk / tile, bucket_count = Problem::bucket_count,
              part_tiles = Problem::part_tiles;

#include "vision/nms/cluster.cuh"
#include "vision/nms/order.cuh"

// A bucket of its own, the last one, has the boxes that do not count.
__device__ __forceinline__ void write_buckets(const Arguments& arguments) {
  const long long place = blockIdx.x * static_cast<long long>(threads) + threadIdx.x;
  const int candidates = arguments.candidates;
  if (place >= static_cast<long long>(arguments.images) * candidates) return;
  const long long index = place / candidates * candidates + arguments.order[place];
  const auto id = static_cast<unsigned long long>(arguments.classes[index]);
  arguments.buckets[place] =
      static_cast<unsigned char>(arguments.keys[index] == 0 ? bucket_count : id % bucket_count);
}

// A warp for each tile; lanes find where buckets begin.
__device__ __forceinline__ void gather_boxes(const Arguments& arguments) {
  const int tiles = tiles_of(arguments), candidates = arguments.candidates, lane = threadIdx.x % 32;
  const long long own = blockIdx.x * static_cast<long long>(warps) + threadIdx.x / 32, image = own / tiles;
  if (image >= arguments.images) return;
  if (lane == 0) arguments.chosen[own] = 0;
  const int box = static_cast<int>(own % tiles) * tile + lane;
  if (box >= candidates) return;
  const long long of_image = image * candidates;
  const unsigned char* found = arguments.sorted_buckets + of_image;
  int* begins = arguments.begins + image * (bucket_count + 1);
  const int bucket = found[box], before = box == 0 ? -1 : found[box - 1];
  for (int i = before + 1; i <= bucket; ++i) begins[i] = box;
  if (box == candidates - 1) {
    for (int i = bucket + 1; i <= bucket_count; ++i) begins[i] = candidates;
  }
  if (bucket == bucket_count) return;
  const int index = arguments.order[of_image + arguments.by_bucket[of_image + box]];
  sorted(arguments, image, 0).set(box, load_candidate(arguments, image, index));
}

struct Shared {
  Candidates own;    // those of the chunk
  Candidates kept;   // a tile of each warp
  unsigned* masks;   // see choose.cuh
  unsigned* known;   // of each tile, the boxes that are out; room for `choose_boxes`
  unsigned* chosen;  // of each tile, the boxes that are kept

  __device__ __forceinline__ Shared() {
    own.corners = dynamic_shared<float4>();
    kept.corners = own.corners + chunk;
    own.ids = reinterpret_cast<ClassId*>(kept.corners + warps * tile);
    kept.ids = own.ids + chunk;
    masks = reinterpret_cast<unsigned*>(kept.ids + warps * tile);
    known = masks + pairs_of_tiles(chunk_tiles) * tile;
    chosen = known + known_words * chunk_tiles;
  }
};

__device__ __forceinline__ void load_chunk(const Shared& shared, const Candidates& boxes, int some) {
  for (int i = threadIdx.x; i < chunk; i += threads) {
    if (i < some) shared.own.set(i, boxes.get(i));
    const unsigned there = __ballot_sync(0xffffffffu, i < some);
    if (i % tile == 0) shared.known[i / tile] = ~there;
  }
}

// Compares some tiles of a chunk with a tile of those that are kept, which lie in global memory, in each
// warp.
__device__ __forceinline__ void compare_with_kept(const Shared& shared, const Candidates& boxes, int some,
                                                  int kept, const OverlapTest& test) {
  constexpr int together = 8;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = (some + tile - 1) / tile;
  const int groups = (tiles + together - 1) / together, all = (kept + tile - 1) / tile * groups;
  unsigned* dead = of_block(shared.known, 0);
  Candidates others = shared.kept;
  others.corners += warp * tile;
  others.ids += warp * tile;
  for (int i = warp * blocks + rank_of_block(); i < all; i += warps * blocks) {
    const int first = i / groups * tile, count = kept - first < tile ? kept - first : tile;
    if (lane < count) {
      others.corners[lane] = __ldcg(boxes.corners + first + lane);
      others.ids[lane] = __ldcg(boxes.ids + first + lane);
    }
    __syncwarp();
    for (int later = i % groups * together; later < tiles && later < (i % groups + 1) * together; ++later) {
      const int box = later * tile + lane;
      const unsigned killers = killers_of(others, 0, count, shared.own.get(box < some ? box : 0), test);
      const unsigned dies = __ballot_sync(0xffffffffu, box < some && killers != 0);
      if (lane == 0 && dies != 0) atomicOr(dead + later, dies);
    }
    __syncwarp();
  }
}

// Compares the boxes of a chunk with each other, a tile with a tile in each warp.
__device__ __forceinline__ void compare_chunk(const Shared& shared, int some, const OverlapTest& test) {
  const int lane = threadIdx.x % 32, tiles = (some + 2 * tile - 1) / (2 * tile) * 2;
  unsigned* masks = of_block(shared.masks, 0);
  for (int i = threadIdx.x / 32 * blocks + rank_of_block(); i < pairs_of_tiles(tiles); i += warps * blocks) {
    const TilePair pair = pair_of(i, tiles);
    const int box = pair.later * tile + lane, first = pair.earlier * tile;
    const int count = some - first < tile ? some - first : tile;
    unsigned killers = killers_of(shared.own, first, count, shared.own.get(box < some ? box : 0), test);
    if (pair.earlier == pair.later) killers &= (1u << lane) - 1;
    masks[place_of(pair) * tile + lane] = killers;
  }
}

// Those that are kept take the place of those that were read, from the bucket's begin on.
__device__ __forceinline__ void sweep_bucket(const Arguments& arguments) {
  const long long segment = blockIdx.x / blocks, image = segment / bucket_count;
  const int* begins = arguments.begins + image * (bucket_count + 1) + segment % bucket_count;
  const int begin = begins[0], count = begins[1] - begin, most = arguments.max_output;
  const OverlapTest test(arguments.iou_threshold);
  const Shared shared;
  const Candidates boxes = sorted(arguments, image, begin);
  const int* places = arguments.by_bucket + image * arguments.candidates + begin;
  unsigned* marks = arguments.chosen + image * tiles_of(arguments);
  for (int first = 0, kept = 0; first < count && kept < most; first += chunk) {
    const int some = count - first < chunk ? count - first : chunk;
    Candidates next = boxes;
    next.corners += first;
    next.ids += first;
    load_chunk(shared, next, some);
    barrier_of_blocks();
    compare_with_kept(shared, boxes, some, kept, test);
    compare_chunk(shared, some, test);
    barrier_of_blocks();
    if (rank_of_block() == 0) {
      const unsigned chosen = choose_boxes<warps, chunk_tiles>(shared.masks, shared.known, some);
      const int lane = threadIdx.x % 32;
      const bool tells = threadIdx.x < 32 && lane < chunk_tiles;
      for (int rank = 0; rank < blocks && tells; ++rank) *of_block(shared.chosen + lane, rank) = chosen;
    }
    barrier_of_blocks();
    kept += for_each_chosen<chunk_tiles, warps>(shared.chosen, [&](int box, int rank) {
      if (rank_of_block() != 0 || kept + rank >= most) return;
      boxes.set(kept + rank, shared.own.get(box));
      const int place = places[first + box];
      atomicOr(marks + place / tile, 1u << place % tile);
    });
    __syncthreads();
  }
}

// A block for each part of an image, which adds up how many are kept ahead of it.
__device__ __forceinline__ void write_kept(const Arguments& arguments) {
  unsigned* marks = dynamic_shared<unsigned>();
  int& ahead = *reinterpret_cast<int*>(marks + part_tiles);
  const int tiles = tiles_of(arguments), parts = static_cast<int>(gridDim.x / arguments.images);
  const int first = static_cast<int>(blockIdx.x % parts) * part_tiles, most = arguments.max_output;
  const long long image = blockIdx.x / parts;
  const unsigned* chosen = arguments.chosen + image * tiles;
  for (int i = threadIdx.x; i < part_tiles; i += threads) {
    marks[i] = first + i < tiles ? chosen[first + i] : 0;
  }
  if (threadIdx.x == 0) ahead = 0;
  __syncthreads();
  int own = 0;
  for (int i = threadIdx.x; i < first; i += threads) own += __popc(chosen[i]);
  own = fold_lanes(own, Sum());
  if (threadIdx.x % 32 == 0 && own != 0) atomicAdd(&ahead, own);
  __syncthreads();
  const int* order = arguments.order + image * arguments.candidates + first * tile;
  const int count = for_each_chosen<part_tiles, warps>(marks, [&](int box, int rank) {
    if (ahead + rank < most) arguments.indices[image * most + ahead + rank] = order[box];
  });
  if (first + part_tiles >= tiles && threadIdx.x == 0) {
    arguments.kept[image] = ahead + count < most ? ahead + count : most;
  }
}
