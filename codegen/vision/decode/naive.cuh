#pragma once
#include "vision/decode/points.cuh"

// A warp for each picture, which goes through its points, 32 at a time.
__device__ __forceinline__ void decode_naive(const Arguments& arguments) {
  const long long image = blockIdx.x;
  int count = 0;
  for (int first = 0; first < arguments.points; first += 32) {
    const int point = first + threadIdx.x;
    Best best = {0.0f, 0};
    float score = 0.0f;
    if (point < arguments.points) {
      best = best_class(arguments, logits_of(arguments, image, point), 0, 1);
      score = sigmoid(best.logit);
    }
    const bool passes = point < arguments.points && score > arguments.threshold;
    const unsigned passing = __ballot_sync(0xffffffffu, passes);
    const int place = count + __popc(passing & ((1u << threadIdx.x) - 1));
    if (passes && place < arguments.capacity) write_box(arguments, image, point, score, best.id, place);
    count += __popc(passing);
  }
  if (threadIdx.x == 0) arguments.count[image] = count;
}
