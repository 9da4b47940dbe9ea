#pragma once
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#include "vision/decode/boxes.cuh"
// A block for each part of a picture's points, in two launches: how many pass, and where they go.

constexpr int points = Schedule::points, splits = Schedule::splits, width = Schedule::vector_width;
constexpr int groups = points / width, threads = groups * splits;

struct Part {
  long long image;
  int number, parts, first;

  __device__ __forceinline__ explicit Part(const Arguments& arguments) {
    parts = (arguments.points + points - 1) / points;
    image = blockIdx.x / parts;
    number = static_cast<int>(blockIdx.x % parts);
    first = number * points;
  }
};

// The score and the class of each point, and how many of the block's pass. A thread has neighbouring points,
// and a part of their classes.
__device__ __forceinline__ void find_best(const Arguments& arguments) {
  const Part own(arguments);
  const int split = static_cast<int>(threadIdx.x) / groups, group = static_cast<int>(threadIdx.x) % groups;
  Best* shared = dynamic_shared<Best>();
  Best best[width];
#pragma unroll
  for (int i = 0; i < width; ++i) best[i] = {__uint_as_float(0xff800000u), split};
  const int first = own.first + group * width;
  if (first < arguments.points) {
    best_classes<width, splits>(arguments, logits_of(arguments, own.image, first), split, best);
  }
#pragma unroll
  for (int i = 0; i < width; ++i) shared[split * points + group * width + i] = best[i];
  __syncthreads();
  int passing = 0;
  for (int i = threadIdx.x; i < points && own.first + i < arguments.points; i += threads) {
    Best found = shared[i];
    for (int other = 1; other < splits; ++other) found = better(found, shared[other * points + i]);
    const float score = score_of(logits_of(arguments, own.image, own.first + i), found);
    passing += static_cast<int>(score > arguments.threshold);
    const long long place = own.image * arguments.points + own.first + i;
    arguments.best_scores[place] = score;
    arguments.best_ids[place] = found.id;
  }
  __syncthreads();
  const int count = reduce_row<threads>(passing, Sum(), dynamic_shared<int>());
  if (threadIdx.x == 0) arguments.passing[blockIdx.x] = count;
}

// The boxes of the points that pass, behind those of the parts ahead: first which these are, then a thread
// for each side of each box.
__device__ __forceinline__ void write_boxes(const Arguments& arguments) {
  const Part own(arguments);
  int* sums = dynamic_shared<int>();
  int* of_warps = sums + 32;
  int* chosen = of_warps + 32;
  const int* passing = arguments.passing + own.image * own.parts;
  int ahead = 0;
  for (int i = threadIdx.x; i < own.number; i += points) ahead += passing[i];
  ahead = reduce_row<points>(ahead, Sum(), sums);
  const int point = own.first + static_cast<int>(threadIdx.x);
  const long long of_image = own.image * arguments.points;
  const bool passes =
      point < arguments.points && arguments.best_scores[of_image + point] > arguments.threshold;
  const unsigned of_warp = __ballot_sync(0xffffffffu, passes);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = __popc(of_warp);
  __syncthreads();
  int place = __popc(of_warp & ((1u << threadIdx.x % 32) - 1)), count = 0;
  for (int i = 0; i < points / 32; ++i) {
    place += i < static_cast<int>(threadIdx.x) / 32 ? of_warps[i] : 0;
    count += of_warps[i];
  }
  if (passes) chosen[place] = point;
  if (own.number == own.parts - 1 && threadIdx.x == 0) arguments.count[own.image] = ahead + count;
  __syncthreads();
  const int room = arguments.capacity - ahead, written = count < room ? count : room;
  for (int i = threadIdx.x; i < written * 4; i += points) {
    const int from = chosen[i / 4], side = i % 4;
    const long long target = own.image * arguments.capacity + ahead + i / 4;
    const Cell cell = logits_of(arguments, own.image, from);
    arguments.boxes[target * 4 + side] = side_of(arguments, cell, side);
    if (side != 0) continue;
    arguments.scores[target] = arguments.best_scores[of_image + from];
    arguments.ids[target] = arguments.best_ids[of_image + from];
    arguments.indices[target] = from;
  }
}
