#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/choose.cuh"
#include "vision/nms/pairs.cuh"
// Boxes in order, chunk by chunk. `keys` and `order` are those of the sort, `dead` has for each tile of an
// image which of its boxes are out, and `masks`, for each pair of a chunk's tiles and each box of the later
// one, which boxes of the earlier suppress it.

constexpr int threads = Schedule::threads, warps = threads / 32, chunk = Schedule::chunk;
constexpr int chunk_tiles = chunk / tile, most_masks = pairs_of_tiles(chunk_tiles) * tile;

#include "vision/nms/order.cuh"

// The masks of an image's chunk, for which there is as much room as its boxes may take.
__device__ __forceinline__ unsigned* masks_of(const Arguments& arguments, long long image) {
  const int tiles = (arguments.candidates + 2 * tile - 1) / (2 * tile) * 2;
  return arguments.masks + image * pairs_of_tiles(tiles < chunk_tiles ? tiles : chunk_tiles) * tile;
}

__device__ __forceinline__ int chosen_room(const Arguments& arguments) {
  return arguments.candidates < chunk ? arguments.candidates : chunk;
}

// Those of the last chunk that are kept.
__device__ __forceinline__ Candidates chosen_of(const Arguments& arguments, long long image) {
  Candidates found;
  found.corners = reinterpret_cast<float4*>(arguments.chosen_corners) + image * chosen_room(arguments);
#if classed
  found.ids = reinterpret_cast<ClassId*>(arguments.chosen_ids) + image * chosen_room(arguments);
#endif
  return found;
}

// A warp for each tile.
__device__ __forceinline__ void gather_boxes(const Arguments& arguments) {
  const int tiles = tiles_of(arguments), candidates = arguments.candidates, lane = threadIdx.x % 32;
  const long long own = blockIdx.x * static_cast<long long>(warps) + threadIdx.x / 32, image = own / tiles;
  if (image >= arguments.images) return;
  const int box = static_cast<int>(own % tiles) * tile + lane;
  bool counts = false;
  if (box < candidates) {
    const int index = arguments.order[image * candidates + box];
    counts = arguments.keys[image * candidates + index] != 0;
    if (counts) sorted(arguments, image, 0).set(box, load_candidate(arguments, image, index));
  }
  const unsigned there = __ballot_sync(0xffffffffu, counts);
  if (lane == 0) arguments.dead[own] = ~there;
}

// How many boxes of an image are kept ahead of the present chunk.
__device__ __forceinline__ int kept_ahead(const Arguments& arguments, long long image) {
  return arguments.first == 0 ? 0 : arguments.kept[image];
}

// Each warp compares tiles of a chunk with each other, and boxes from the chunk on with those that are kept
// of the last one.
__device__ __forceinline__ void compare_boxes(const Arguments& arguments) {
  const int parts = static_cast<int>(gridDim.x / arguments.images),
            part = static_cast<int>(blockIdx.x % parts);
  const long long image = blockIdx.x / parts;
  if (kept_ahead(arguments, image) >= arguments.max_output) return;
  const OverlapTest test(arguments.iou_threshold);
  const Candidates boxes = sorted(arguments, image, arguments.first), chosen = chosen_of(arguments, image);
  unsigned* masks = masks_of(arguments, image);
  unsigned* dead = arguments.dead + image * tiles_of(arguments) + arguments.first / tile;
  const int left = arguments.candidates - arguments.first, some = left < chunk ? left : chunk;
  const int tiles = (some + 2 * tile - 1) / (2 * tile) * 2, pairs = pairs_of_tiles(tiles);
  const int later_tiles = (left + tile - 1) / tile;
  const int count = arguments.first == 0 ? 0 : arguments.chosen_count[image];
  const int all = pairs + (count + tile - 1) / tile * later_tiles;
  const int lane = threadIdx.x % 32;
  for (int i = part * warps + threadIdx.x / 32; i < all; i += parts * warps) {
    const bool of_chunk = i < pairs;
    const TilePair pair =
        of_chunk ? pair_of(i, tiles) : TilePair{(i - pairs) % later_tiles, (i - pairs) / later_tiles};
    const int box = pair.later * tile + lane, first = pair.earlier * tile;
    const int there = (of_chunk ? some : count) - first;
    const Candidates others = one_of(of_chunk, boxes, chosen);
    const Candidate own = boxes.get(box < left ? box : 0);
    unsigned killers = killers_of(others, first, there < tile ? there : tile, own, test);
    if (of_chunk) {
      if (pair.earlier == pair.later) killers &= (1u << lane) - 1;
      masks[place_of(pair) * tile + lane] = killers;
    } else {
      const unsigned dies = __ballot_sync(0xffffffffu, killers != 0);
      if (lane == 0 && dies != 0) atomicOr(dead + pair.later, dies);
    }
  }
}

// A block for each image, which goes through the tiles of a chunk.
__device__ __forceinline__ void choose_of_chunk(const Arguments& arguments) {
  constexpr int sweeping = Schedule::sweep_threads;
  unsigned* masks = dynamic_shared<unsigned>();
  unsigned* known = masks + most_masks;
  unsigned* chosen = known + known_words * chunk_tiles;
  const long long image = blockIdx.x;
  const int most = arguments.max_output, ahead = kept_ahead(arguments, image);
  if (ahead >= most && arguments.first != 0) return;
  const int left = arguments.candidates - arguments.first, some = left < chunk ? left : chunk;
  const int tiles = (some + tile - 1) / tile;
  const unsigned* of_image = masks_of(arguments, image);
  for (int i = threadIdx.x; i < pairs_of_tiles(tiles) * tile; i += sweeping) {
    masks[i] = of_image[i];
  }
  for (int i = threadIdx.x; i < tiles; i += sweeping) {
    known[i] = arguments.dead[image * tiles_of(arguments) + arguments.first / tile + i];
  }
  __syncthreads();
  const unsigned of_lane = choose_boxes<sweeping / 32, chunk_tiles>(masks, known, some);
  if (threadIdx.x < chunk_tiles) chosen[threadIdx.x] = of_lane;
  __syncthreads();
  const Candidates boxes = sorted(arguments, image, arguments.first), target = chosen_of(arguments, image);
  const int* order = arguments.order + image * arguments.candidates + arguments.first;
  const int count = for_each_chosen<chunk_tiles, sweeping / 32>(chosen, [&](int box, int rank) {
    if (ahead + rank >= most) return;
    target.set(rank, boxes.get(box));
    arguments.indices[image * most + ahead + rank] = order[box];
  });
  if (threadIdx.x == 0) {
    arguments.kept[image] = ahead + count < most ? ahead + count : most;
    arguments.chosen_count[image] = count;
  }
}
