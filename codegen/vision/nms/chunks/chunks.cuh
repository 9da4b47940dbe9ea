#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/candidates.cuh"
#include "vision/nms/survivors.cuh"
// Boxes in order, chunk by chunk. `keys` and `order` are those of the sort, `dead` says which boxes in order
// are out, and `masks` has, for each box of a chunk and each tile ahead of it, which boxes of that suppress
// it.

constexpr int threads = Schedule::threads, chunk = Schedule::chunk, tiles = chunk / tile;

// The boxes in order, of all images.
__device__ __forceinline__ Candidates sorted(const Arguments& arguments) {
  Candidates found;
  found.corners = reinterpret_cast<float4*>(arguments.sorted_corners);
#if classed
  found.ids = reinterpret_cast<ClassId*>(arguments.sorted_ids);
#endif
  return found;
}

// Those of the present chunk that are kept, of each image in turn.
__device__ __forceinline__ Candidates chosen(const Arguments& arguments, long long image) {
  Candidates found;
  found.corners = reinterpret_cast<float4*>(arguments.chosen_corners) + image * chunk;
#if classed
  found.ids = reinterpret_cast<ClassId*>(arguments.chosen_ids) + image * chunk;
#endif
  return found;
}

// Boxes in shared memory, as many as `count`, behind `bytes` of it.
__device__ __forceinline__ Candidates shared_boxes(int count, int bytes = 0) {
  Candidates found;
  found.corners = reinterpret_cast<float4*>(dynamic_shared<unsigned char>() + bytes);
#if classed
  found.ids = reinterpret_cast<ClassId*>(found.corners + count);
#endif
  return found;
}

__device__ __forceinline__ long long own_place() {
  return blockIdx.x * static_cast<long long>(threads) + threadIdx.x;
}

__device__ __forceinline__ void write_keys(const Arguments& arguments) {
  const long long place = own_place();
  const int candidates = arguments.candidates;
  if (place >= static_cast<long long>(arguments.images) * candidates) return;
  const long long image = place / candidates;
  const int index = static_cast<int>(place - image * candidates);
  const bool counts = index < candidates_of(arguments, image);
  arguments.keys[place] = counts ? score_key(arguments, image, index) : 0;
}

__device__ __forceinline__ void gather_boxes(const Arguments& arguments) {
  const long long place = own_place();
  if (place >= static_cast<long long>(arguments.images) * arguments.candidates) return;
  const long long image = place / arguments.candidates;
  const int index = arguments.order[place];
  const bool counts = arguments.keys[image * arguments.candidates + index] != 0;
  arguments.dead[place] = !counts;
  if (counts) sorted(arguments).set(place, load_candidate(arguments, image, index));
}

// How many boxes of an image are kept ahead of the present chunk.
__device__ __forceinline__ int kept_ahead(const Arguments& arguments, long long image) {
  return arguments.first == 0 ? 0 : arguments.kept[image];
}

// A block for each pair of tiles of a chunk, a thread for each box of the later one.
__device__ __forceinline__ void compare_tiles(const Arguments& arguments) {
  const int pair = blockIdx.x % (tiles * tiles), later = pair / tiles, earlier = pair % tiles;
  const long long image = blockIdx.x / (tiles * tiles), begin = image * arguments.candidates;
  const int box = arguments.first + later * tile + threadIdx.x;
  const int other = arguments.first + earlier * tile + threadIdx.x;
  if (earlier > later || kept_ahead(arguments, image) >= arguments.max_output) return;
  unsigned* votes = dynamic_shared<unsigned>();
  const Candidates boxes = sorted(arguments), others = shared_boxes(tile, 16);
  const bool there = box < arguments.candidates && !arguments.dead[begin + box];
  const bool other_there = other < arguments.candidates && !arguments.dead[begin + other];
  if (other_there) others.set(threadIdx.x, boxes.get(begin + other));
  const unsigned long long alive = vote_of_tile(votes, other_there);
  unsigned long long left = earlier == later ? alive & ((1ull << threadIdx.x) - 1) : alive, killers = 0;
  if (there) {
    const Candidate own = boxes.get(begin + box);
    for (; left != 0; left &= left - 1) {
      const int i = __ffsll(static_cast<long long>(left)) - 1;
      if (suppresses(others.get(i), own, arguments.iou_threshold)) killers |= 1ull << i;
    }
  }
  arguments.masks[(image * tiles + earlier) * chunk + later * tile + threadIdx.x] = killers;
}

// A block for each image, which goes through the tiles of a chunk.
__device__ __forceinline__ void sweep_chunk(const Arguments& arguments) {
  constexpr int parts = threads / tile;
  unsigned long long* kept_of =
      dynamic_shared<unsigned long long>();  // of each tile, the boxes that are kept
  unsigned long long* killers = kept_of + tiles;
  unsigned* dead = reinterpret_cast<unsigned*>(killers + tile);
  const long long image = blockIdx.x, begin = image * arguments.candidates;
  const int box = threadIdx.x % tile, part = threadIdx.x / tile, most = arguments.max_output;
  const int ahead = kept_ahead(arguments, image);
  const Candidates boxes = sorted(arguments), target = chosen(arguments, image);
  const unsigned long long* masks = arguments.masks + image * tiles * chunk;
  int kept = ahead;
  __syncthreads();  // before the number of those that are kept changes
  for (int i = 0; i < tiles && arguments.first + i * tile < arguments.candidates && kept < most; ++i) {
    const int place = arguments.first + i * tile + box, of_chunk = i * tile + box;
    const bool there = place < arguments.candidates && !arguments.dead[begin + place];
    if (part == 0) killers[box] = there ? masks[i * chunk + of_chunk] : 0;
    if (threadIdx.x < 2) dead[threadIdx.x] = 0;
    __syncthreads();
    bool dies = !there;
    for (int j = part; j < i && !dies; j += parts) dies = (masks[j * chunk + of_chunk] & kept_of[j]) != 0;
    if (dies) atomicOr(dead + box / 32, 1u << box % 32);
    __syncthreads();
    const unsigned long long survivors =
        survivors_of(static_cast<unsigned long long>(dead[1]) << 32 | dead[0], killers);
    if (threadIdx.x == 0) kept_of[i] = survivors;
    const int rank = kept + __popcll(survivors & ((1ull << box) - 1));
    if (part == 0 && (survivors >> box & 1) && rank < most) {
      target.set(rank - ahead, boxes.get(begin + place));
      arguments.indices[image * most + rank] = arguments.order[begin + place];
    }
    kept += __popcll(survivors);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    arguments.kept[image] = kept < most ? kept : most;
    arguments.chosen_count[image] = kept < most ? kept - ahead : 0;  // there is no need to go on
  }
}

// A thread for each box behind the chunk, which compares it with those of the chunk that are kept.
__device__ __forceinline__ void drop_later(const Arguments& arguments) {
  const int blocks = (arguments.candidates - chunk + threads - 1) / threads;  // of an image
  const long long image = blockIdx.x / blocks, begin = image * arguments.candidates;
  const long long box =
      arguments.first + chunk + static_cast<long long>(blockIdx.x % blocks) * threads + threadIdx.x;
  const Candidates boxes = sorted(arguments), source = chosen(arguments, image),
                   others = shared_boxes(threads);
  const int count = arguments.chosen_count[image];
  const bool there = box < arguments.candidates && !arguments.dead[begin + box];
  Candidate own;
  if (there) own = boxes.get(begin + box);
  bool dies = false;
  for (int first = 0; first < count; first += threads) {
    const int some = count - first < threads ? count - first : threads;
    if (threadIdx.x < some) others.set(threadIdx.x, source.get(first + threadIdx.x));
    __syncthreads();
    for (int i = 0; i < some && there && !dies; ++i) {
      dies = suppresses(others.get(i), own, arguments.iou_threshold);
    }
    __syncthreads();
  }
  if (dies) arguments.dead[begin + box] = 1;
}
