#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/candidates.cuh"
#include "vision/nms/survivors.cuh"
// A block for each image: it sorts all scores, then compares the boxes of one tile after the other with those
// that are kept so far, and with each other.

constexpr int threads = Schedule::threads;

#include "cuda/sort_entries.cuh"

struct Shared {
  Entry* entries;               // `slots` of them
  Candidates kept;              // as many as an image keeps
  Candidates own;               // those of the tile
  unsigned long long* killers;  // of each box of the tile, those of the tile ahead of it that suppress it
  unsigned* dead;               // the boxes of the tile that are out, 32 in each word

  __device__ __forceinline__ explicit Shared(int most_kept) {
    entries = dynamic_shared<Entry>();
    kept.corners = reinterpret_cast<float4*>(entries + Schedule::slots);
    own.corners = kept.corners + most_kept;
    killers = reinterpret_cast<unsigned long long*>(own.corners + tile);
    dead = reinterpret_cast<unsigned*>(killers + tile);
#if classed
    kept.ids = reinterpret_cast<ClassId*>(dead + 2);
    own.ids = kept.ids + most_kept;
#endif
  }
};

// Those of the boxes from `first` on that are kept, `kept` others being so already.
__device__ __forceinline__ unsigned long long survivors_of_tile(const Shared& shared, int first, int kept,
                                                                float threshold) {
  constexpr int parts = threads / tile;
  const int box = threadIdx.x % tile, part = threadIdx.x / tile;
  if (shared.entries[first + box] != 0) {
    const Candidate own = shared.own.get(box);
    bool dies = false;
    for (int i = part; i < kept && !dies; i += parts) dies = suppresses(shared.kept.get(i), own, threshold);
    if (dies) atomicOr(shared.dead + box / 32, 1u << box % 32);
    unsigned long long killers = 0;
    for (int i = part; i < box; i += parts) {
      if (suppresses(shared.own.get(i), own, threshold)) killers |= 1ull << i;
    }
    if (killers != 0) atomicOr(shared.killers + box, killers);
  } else if (part == 0) {
    atomicOr(shared.dead + box / 32, 1u << box % 32);
  }
  __syncthreads();
  return survivors_of(static_cast<unsigned long long>(shared.dead[1]) << 32 | shared.dead[0], shared.killers);
}

__device__ __forceinline__ void nms_block(const Arguments& arguments) {
  const long long image = blockIdx.x;
  const int count = candidates_of(arguments, image), most = arguments.max_output;
  const Shared shared(most < arguments.candidates ? most : arguments.candidates);
  int slots = tile;
  while (slots < count) slots *= 2;
  for (int i = threadIdx.x; i < slots; i += threads) {
    shared.entries[i] = i < count ? entry_of(arguments, image, i) : 0;
  }
  __syncthreads();
  sort_entries(shared.entries, slots);
  int kept = 0;
  for (int first = 0; first < count && kept < most && shared.entries[first] != 0; first += tile) {
    const int box = threadIdx.x;
    const Entry entry = box < tile ? shared.entries[first + box] : 0;
    if (entry != 0) shared.own.set(box, load_candidate(arguments, image, index_of(entry)));
    if (box < tile) shared.killers[box] = 0;
    if (box < 2) shared.dead[box] = 0;
    __syncthreads();
    const unsigned long long survivors = survivors_of_tile(shared, first, kept, arguments.iou_threshold);
    const int place = kept + __popcll(survivors & ((1ull << box % tile) - 1));
    if (box < tile && (survivors >> box & 1) && place < most) {
      shared.kept.set(place, shared.own.get(box));
      arguments.indices[image * most + place] = index_of(entry);
    }
    kept += __popcll(survivors);
    __syncthreads();
  }
  if (threadIdx.x == 0) arguments.kept[image] = kept < most ? kept : most;
}
