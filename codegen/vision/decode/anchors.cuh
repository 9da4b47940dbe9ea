#pragma once
#include "vision/decode/numbers.cuh"
// A detector with anchors: three boxes for each place of a level, in an array for each level.

using Element = Problem::Element;

constexpr int boxes_of_place = 3,
              ahead = 5;  // logits ahead of the classes: center, size, and whether it is a box

// The logits of a box, of which each is `step` behind the last one, and where it is.
struct Cell {
  const Element* classes;
  long long step;
  int level, anchor, place;

  __device__ __forceinline__ float is_box() const { return sigmoid(to_float(classes[-step])); }

  // The score of a box of which the best class is so likely.
  __device__ __forceinline__ float scaled(float likely) const { return __fmul_rn(is_box(), likely); }
};

__device__ __forceinline__ Cell logits_of(const Arguments& arguments, long long image, int point) {
  Cell cell;
  int stride = 8, area = (arguments.height / 8) * (arguments.width / 8);
  const Element* head = arguments.head8;
  cell.level = 0;
  while (point >= boxes_of_place * area) {
    point -= boxes_of_place * area;
    stride *= 2;
    area = (arguments.height / stride) * (arguments.width / stride);
    head = cell.level == 0 ? arguments.head16 : arguments.head32;
    ++cell.level;
  }
  cell.anchor = point / area;
  cell.place = point % area;
  cell.step = area;
  const long long first = (image * boxes_of_place + cell.anchor) * (ahead + arguments.classes) + ahead;
  cell.classes = head + first * area + cell.place;
  return cell;
}

// Whether one of `width` neighbours may pass, whatever its classes are: no score is above this part of it.
template <int width>
__device__ __forceinline__ bool may_pass(const Arguments& arguments, const Cell& cell) {
  const Packed<Element, width> packed = load_global<width, false>(cell.classes - cell.step);
  bool found = false;
#pragma unroll
  for (int i = 0; i < width; ++i)
    found = found || sigmoid(to_float(packed.elements[i])) > arguments.threshold;
  return found;
}

// Left, top, right or bottom of a box.
__device__ __forceinline__ float side_of(const Arguments& arguments, const Cell& cell, int side) {
  const int stride = 8 << cell.level, columns = arguments.width / stride, axis = side % 2;
  const int place = axis == 0 ? cell.place % columns : cell.place / columns;
  const float of_center = sigmoid(to_float(cell.classes[(axis - ahead) * cell.step]));
  const float of_size = sigmoid(to_float(cell.classes[(axis + 2 - ahead) * cell.step]));
  const float anchor = arguments.anchors[(cell.level * boxes_of_place + cell.anchor) * 2 + axis];
  const float where = __fadd_rn(__fmul_rn(of_center, 2.0f), static_cast<float>(place) - 0.5f);
  const float center = __fmul_rn(where, static_cast<float>(stride));
  const float twice = __fmul_rn(of_size, 2.0f);
  const float half = __fmul_rn(__fmul_rn(__fmul_rn(twice, twice), anchor), 0.5f);
  return side < 2 ? center - half : center + half;
}
