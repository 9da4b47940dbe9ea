#pragma once
#include "vision/decode/numbers.cuh"
// A detector without anchors: of each point, the distance to each side of its box, in an array for all
// levels.

using Element = Problem::Element;

constexpr int sides = 4, bins = 16;

// A point's logits, of which each is `step` behind the last one, and where it is.
struct Cell {
  const Element* classes;
  long long step;
  int point;

  // The score of a box of which the best class is so likely.
  __device__ __forceinline__ float scaled(float likely) const { return likely; }
};

__device__ __forceinline__ Cell logits_of(const Arguments& arguments, long long image, int point) {
  const long long first = image * (sides * bins + arguments.classes) + sides * bins;
  return {arguments.head + first * arguments.points + point, arguments.points, point};
}

// Whether one of `width` neighbours may pass, whatever its classes are.
template <int width>
__device__ __forceinline__ bool may_pass(const Arguments&, const Cell&) {
  return true;
}

// The mean of the bins of a side.
__device__ __forceinline__ float distance_of(const Cell& cell, int side) {
  float of_bins[bins];
#pragma unroll
  for (int i = 0; i < bins; ++i) of_bins[i] = to_float(cell.classes[((side - sides) * bins + i) * cell.step]);
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

// Left, top, right or bottom of a point's box.
__device__ __forceinline__ float side_of(const Arguments& arguments, const Cell& cell, int side) {
  int of_level = cell.point, stride = 8;
  while (of_level >= (arguments.height / stride) * (arguments.width / stride)) {
    of_level -= (arguments.height / stride) * (arguments.width / stride);
    stride *= 2;
  }
  const int columns = arguments.width / stride,
            place = side % 2 == 0 ? of_level % columns : of_level / columns;
  const float distance = distance_of(cell, side), center = static_cast<float>(place) + 0.5f;
  return __fmul_rn(side < 2 ? center - distance : center + distance, static_cast<float>(stride));
}
