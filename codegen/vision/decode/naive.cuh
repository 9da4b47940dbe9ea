#pragma once
#include "vision/decode/boxes.cuh"

// A warp for each picture, which goes through its points, 32 at a time.
__device__ __forceinline__ void decode_naive(const Arguments& arguments) {
  const long long image = blockIdx.x;
  int count = 0;
  for (int first = 0; first < arguments.points; first += 32) {
    const int point = first + threadIdx.x;
    Best best[1] = {{__uint_as_float(0xff800000u), 0}};
    float score = 0.0f;
    if (point < arguments.points) {
      const Cell cell = logits_of(arguments, image, point);
      best_classes<1, 1>(arguments, cell, 0, best);
      score = score_of(cell, best[0]);
    }
    const bool passes = point < arguments.points && score > arguments.threshold;
    const unsigned passing = __ballot_sync(0xffffffffu, passes);
    const int place = count + __popc(passing & ((1u << threadIdx.x) - 1));
    if (passes && place < arguments.capacity) {
      const long long target = image * arguments.capacity + place;
      const Cell cell = logits_of(arguments, image, point);
      for (int side = 0; side < 4; ++side)
        arguments.boxes[target * 4 + side] = side_of(arguments, cell, side);
      arguments.scores[target] = score;
      arguments.ids[target] = best[0].id;
      arguments.indices[target] = point;
    }
    count += __popc(passing);
  }
  if (threadIdx.x == 0) arguments.count[image] = count;
}
