#pragma once
#include "cuda/numbers.cuh"
#include "vision/decode/numbers.cuh"
// What a detector says of a point.

using Element = Problem::Element;

constexpr int sides = 4, bins = 16;

struct Best {
  float logit;
  int id;
};

// The better of two, of equal ones that of the lower class.
__device__ __forceinline__ Best better(Best one, Best other) {
  const bool first = one.logit == other.logit ? one.id < other.id : one.logit > other.logit;
  return first ? one : other;
}

// The logits of a picture's point, of which each is `points` behind the last one.
__device__ __forceinline__ const Element* logits_of(const Arguments& arguments, long long image, int point) {
  return arguments.head + image * (sides * bins + arguments.classes) * arguments.points + point;
}

// The best of the classes `first`, `first + step`, …; a NaN is below all numbers.
__device__ __forceinline__ Best best_class(const Arguments& arguments, const Element* logits, int first,
                                           int step) {
  Best best = {__uint_as_float(0xff800000u), first};
#pragma unroll 8
  for (int id = first; id < arguments.classes; id += step) {
    const float logit = to_float(logits[static_cast<long long>(sides * bins + id) * arguments.points]);
    if (logit > best.logit) best = {logit, id};
  }
  return best;
}

// The mean of the bins of a side.
__device__ __forceinline__ float distance_of(const Arguments& arguments, const Element* logits, int side) {
  float of_bins[bins];
#pragma unroll
  for (int i = 0; i < bins; ++i) {
    of_bins[i] = to_float(logits[static_cast<long long>(side * bins + i) * arguments.points]);
  }
  float largest = of_bins[0], total = 0.0f, moment = 0.0f;
#pragma unroll
  for (int i = 1; i < bins; ++i) largest = of_bins[i] > largest ? of_bins[i] : largest;
#pragma unroll
  for (int i = 0; i < bins; ++i) {
    const float weight = exponential(of_bins[i] - largest);
    total = __fadd_rn(total, weight);
    moment = multiplied_added(weight, static_cast<float>(i), moment);
  }
  return moment / total;
}

// The box of a point, and what else is known of it, as number `place` of a picture.
__device__ __forceinline__ void write_box(const Arguments& arguments, long long image, int point, float score,
                                          int id, int place) {
  int of_level = point, stride = 8;
  while (of_level >= (arguments.height / stride) * (arguments.width / stride)) {
    of_level -= (arguments.height / stride) * (arguments.width / stride);
    stride *= 2;
  }
  const int columns = arguments.width / stride;
  const float x = of_level % columns + 0.5f, y = of_level / columns + 0.5f,
              pixels = static_cast<float>(stride);
  const Element* logits = logits_of(arguments, image, point);
  const long long target = image * arguments.capacity + place;
  float* box = arguments.boxes + target * 4;
  box[0] = __fmul_rn(x - distance_of(arguments, logits, 0), pixels);
  box[1] = __fmul_rn(y - distance_of(arguments, logits, 1), pixels);
  box[2] = __fmul_rn(x + distance_of(arguments, logits, 2), pixels);
  box[3] = __fmul_rn(y + distance_of(arguments, logits, 3), pixels);
  arguments.scores[target] = score;
  arguments.ids[target] = id;
  arguments.indices[target] = point;
}
