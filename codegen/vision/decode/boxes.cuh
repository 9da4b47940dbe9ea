#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "vision/decode/numbers.cuh"
#if anchored
#  include "vision/decode/anchors.cuh"
#else
#  include "vision/decode/points.cuh"
#endif
// What a detector says of a point: which class is the best one.

struct Best {
  float logit;
  int id;
};

// The better of two, of equal ones that of the lower class.
__device__ __forceinline__ Best better(Best one, Best other) {
  const bool first = one.logit == other.logit ? one.id < other.id : one.logit > other.logit;
  return first ? one : other;
}

// Of neighbouring points, the best of the classes `first`, `first + step`, …; a NaN is below all numbers.
// Where none of the points may pass, nothing need be read.
template <int width, int step>
__device__ __forceinline__ void best_classes(const Arguments& arguments, const Cell& cell, int first,
                                             Best (&best)[width]) {
  if (!may_pass<width>(arguments, cell)) return;
#pragma unroll 8
  for (int id = first; id < arguments.classes; id += step) {
    const Packed<Element, width> packed = load_global<width, false>(cell.classes + id * cell.step);
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const float logit = to_float(packed.elements[i]);
      if (logit > best[i].logit) best[i] = {logit, id};
    }
  }
}

__device__ __forceinline__ float score_of(const Cell& cell, Best best) {
  return cell.scaled(sigmoid(best.logit));
}
