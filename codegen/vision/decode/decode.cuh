#pragma once
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#include "vision/decode/points.cuh"
// A block for each part of a picture's points, in two launches: how many pass, and where they go.

constexpr int points = Schedule::points, splits = Schedule::splits;

struct OwnPoint {
  long long image;
  int part, parts, point;

  __device__ __forceinline__ explicit OwnPoint(const Arguments& arguments) {
    parts = (arguments.points + points - 1) / points;
    image = blockIdx.x / parts;
    part = blockIdx.x % parts;
    point = part * points + threadIdx.x % points;
  }
};

// The score and the class of each point, and how many of the block's pass.
__device__ __forceinline__ void find_best(const Arguments& arguments) {
  const OwnPoint own(arguments);
  const int split = threadIdx.x / points;
  Best* shared = dynamic_shared<Best>();
  Best best = {__uint_as_float(0xff800000u), split};
  if (own.point < arguments.points) {
    best = best_class(arguments, logits_of(arguments, own.image, own.point), split, splits);
  }
  shared[threadIdx.x] = best;
  __syncthreads();
  float score = 0.0f;
  bool passes = false;
  if (split == 0 && own.point < arguments.points) {
#pragma unroll
    for (int i = 1; i < splits; ++i) best = better(best, shared[i * points + threadIdx.x]);
    score = sigmoid(best.logit);
    passes = score > arguments.threshold;
    const long long place = own.image * arguments.points + own.point;
    arguments.best_scores[place] = score;
    arguments.best_ids[place] = best.id;
  }
  __syncthreads();
  const int count = reduce_row<points * splits>(static_cast<int>(passes), Sum(), dynamic_shared<int>());
  if (threadIdx.x == 0) arguments.passing[blockIdx.x] = count;
}

// The boxes of the points that pass, behind those of the parts ahead.
__device__ __forceinline__ void write_boxes(const Arguments& arguments) {
  const OwnPoint own(arguments);
  int* sums = dynamic_shared<int>();
  int* of_warps = sums + 32;
  const int* passing = arguments.passing + own.image * own.parts;
  int ahead = 0;
  for (int i = threadIdx.x; i < own.part; i += points) ahead += passing[i];
  ahead = reduce_row<points>(ahead, Sum(), sums);
  const long long source = own.image * arguments.points + own.point;
  const float score = own.point < arguments.points ? arguments.best_scores[source] : 0.0f;
  const bool passes = own.point < arguments.points && score > arguments.threshold;
  const unsigned of_warp = __ballot_sync(0xffffffffu, passes);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = __popc(of_warp);
  __syncthreads();
  int place = ahead + __popc(of_warp & ((1u << threadIdx.x % 32) - 1));
  for (int i = 0; i < static_cast<int>(threadIdx.x) / 32; ++i) place += of_warps[i];
  if (passes && place < arguments.capacity) {
    write_box(arguments, own.image, own.point, score, arguments.best_ids[source], place);
  }
  if (own.part == own.parts - 1 && threadIdx.x == 0) arguments.count[own.image] = ahead + passing[own.part];
}
