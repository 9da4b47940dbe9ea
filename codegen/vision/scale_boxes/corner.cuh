#pragma once
// A corner of a box in pixels of a target, in pixels of the picture that it shows.

// Number `corner` of left, top, right and bottom; `placement` has the scale of the picture, and the columns
// and rows that are free ahead of it. What is not a number becomes 0.
__device__ __forceinline__ float scaled_corner(const Arguments& arguments, const float* placement,
                                               float where, int corner) {
  const float most = corner % 2 == 0 ? arguments.width : arguments.height;
  const float moved = (where - placement[1 + corner % 2]) / placement[0];
  const float positive = moved > 0.0f ? moved : 0.0f;
  return positive < most ? positive : most;
}
