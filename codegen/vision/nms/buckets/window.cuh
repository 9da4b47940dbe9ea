#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/choose.cuh"
#include "vision/nms/cluster.cuh"
#include "vision/nms/order.cuh"
#include "vision/nms/pairs.cuh"
// The boxes of a bucket, a window at a time: a cluster goes through a window, and all blocks compare what
// that kept with the rest of the bucket. What includes it defines `threads`, `warps`, `chunk`, `chunk_tiles`
// and `window`.

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

// The boxes of a bucket, from the first of a window on.
struct Bucket {
  int begin, left;  // in the order of buckets; how many are left
  Candidates boxes;
  const int* places;  // in the order of scores
  unsigned* dead;     // of the image, a bit for each box in the order of buckets

  __device__ __forceinline__ Bucket(const Arguments& arguments, long long image, int number) {
    const int* begins = arguments.begins + image * (bucket_count + 1) + number;
    begin = begins[0] + arguments.first;
    left = begins[1] - begin;
    boxes = sorted(arguments, image, begin);
    places = arguments.by_bucket + image * arguments.candidates + begin;
    dead = arguments.dead + image * tiles_of(arguments);
  }
  __device__ __forceinline__ bool is_dead(int box) const {
    const int place = begin + box;
    return (dead[place / tile] >> place % tile & 1) != 0;
  }
};

// The bucket of a slot: of those that have boxes in the window, in order; the number of all, if there are
// fewer.
__device__ __forceinline__ int bucket_of_slot(const Arguments& arguments, long long image, int slot) {
  const int* begins = arguments.begins + image * (bucket_count + 1);
  const int lane = threadIdx.x % 32;
  for (int first = 0; first < bucket_count; first += 32) {
    const int own = first + lane;
    const bool has = own < bucket_count && begins[own + 1] - begins[own] > arguments.first;
    const unsigned those = __ballot_sync(0xffffffffu, has);
    if (slot < __popc(those)) {
      const bool is_it = has && __popc(those & ((1u << lane) - 1)) == slot;
      return first + __ffs(static_cast<int>(__ballot_sync(0xffffffffu, is_it))) - 1;
    }
    slot -= __popc(those);
  }
  return bucket_count;
}

__device__ __forceinline__ void load_chunk(const Shared& shared, const Bucket& bucket, int first, int some) {
  for (int i = threadIdx.x; i < chunk; i += threads) {
    const bool counts = i < some && !bucket.is_dead(first + i);
    if (counts) shared.own.set(i, bucket.boxes.get(first + i));
    const unsigned there = __ballot_sync(0xffffffffu, counts);
    if (i % tile == 0) shared.known[i / tile] = ~there;
  }
}

// A cluster goes through a window of a bucket. Those that are kept take the place of those that were read.
__device__ __forceinline__ void sweep_window(const Arguments& arguments) {
  const int slots = static_cast<int>(gridDim.x / blocks / arguments.images);
  const long long image = blockIdx.x / blocks / slots;
  const int number = bucket_of_slot(arguments, image, static_cast<int>(blockIdx.x / blocks % slots));
  if (number == bucket_count) return;
  const long long segment = image * bucket_count + number;
  const Bucket bucket(arguments, image, number);
  const int count = bucket.left < window ? bucket.left : window;
  const int ahead = arguments.first == 0 ? 0 : arguments.kept_of_bucket[segment];
  const int most = arguments.max_output - ahead;
  const OverlapTest test(arguments.iou_threshold);
  const Shared shared;
  unsigned* marks = arguments.chosen + image * tiles_of(arguments);
  int kept = 0;
  for (int first = 0; first < count && kept < most; first += chunk) {
    const int some = count - first < chunk ? count - first : chunk;
    load_chunk(shared, bucket, first, some);
    barrier_of_blocks();
    compare_with_kept(shared, bucket.boxes, some, kept, test);
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
      bucket.boxes.set(kept + rank, shared.own.get(box));
      const int place = bucket.places[first + box];
      atomicOr(marks + place / tile, 1u << place % tile);
    });
    __syncthreads();
  }
  if (rank_of_block() == 0 && threadIdx.x == 0) {
    const int own = kept < most ? kept : most;
    arguments.kept_of_window[segment] = own;
    arguments.kept_of_bucket[segment] = ahead + own;
  }
}

// All blocks compare those that a window kept with what is behind it in its bucket.
__device__ __forceinline__ void compare_behind(const Arguments& arguments) {
  const int parts = static_cast<int>(gridDim.x / arguments.images), lane = threadIdx.x % 32;
  const long long image = blockIdx.x / parts;
  const int part = static_cast<int>(blockIdx.x % parts) * warps + static_cast<int>(threadIdx.x) / 32;
  bool behind = false;
  for (int i = threadIdx.x; i < bucket_count; i += threads) {
    behind = behind || Bucket(arguments, image, i).left > window;
  }
  if (!__syncthreads_or(behind)) return;
  const OverlapTest test(arguments.iou_threshold);
  for (int number = 0; number < bucket_count; ++number) {
    const Bucket bucket(arguments, image, number);
    if (bucket.left <= window) continue;
    const long long segment = image * bucket_count + number;
    const int kept = arguments.kept_of_window[segment];
    if (arguments.kept_of_bucket[segment] >= arguments.max_output) continue;
    const int begin = (bucket.begin + window) / tile, end = (bucket.begin + bucket.left + tile - 1) / tile;
    const int later = end - begin, all = (kept + tile - 1) / tile * later;
    for (int i = part; i < all; i += parts * warps) {
      const int first = i / later * tile, own = begin + i % later, box = own * tile + lane - bucket.begin;
      const int count = kept - first < tile ? kept - first : tile;
      const bool there = box >= window && box < bucket.left;
      const unsigned killers =
          killers_of(bucket.boxes, first, count, bucket.boxes.get(there ? box : window), test);
      const unsigned dies = __ballot_sync(0xffffffffu, there && killers != 0);
      if (lane == 0 && dies != 0) atomicOr(bucket.dead + own, dies);
    }
  }
}
