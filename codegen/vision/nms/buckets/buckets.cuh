#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/nms/choose.cuh"
// Boxes class by class. `order` is that of the scores. Boxes in this order have a bucket each, by their
// class; `by_bucket` has their places, bucket by bucket. A cluster goes through a window of a bucket in
// chunks, and marks in `chosen` the places of those that are kept. What they suppress behind the window, all
// blocks find out and mark in `dead`. Buckets are of several classes where there are many.

constexpr int threads = Schedule::threads, warps = threads / 32, chunk = Schedule::chunk,
              blocks = Schedule::cluster;
constexpr int chunk_tiles = chunk / tile, bucket_count = Problem::bucket_count,
              part_tiles = Problem::part_tiles;
constexpr int window = Schedule::window;  // boxes of a bucket

#include "vision/nms/buckets/window.cuh"
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
  if (lane == 0) arguments.chosen[own] = arguments.dead[own] = 0;
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
