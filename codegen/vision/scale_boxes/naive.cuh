#pragma once
#include "vision/scale_boxes/corner.cuh"

// A thread for each corner.
__device__ __forceinline__ void scale_boxes_naive(const Arguments& arguments) {
  const long long own = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x, box = own / 4;
  if (box >= static_cast<long long>(arguments.batch) * arguments.count) return;
  const float* placement = arguments.placement + box / arguments.count * 3;
  arguments.scaled[own] =
      scaled_corner(arguments, placement, arguments.boxes[own], static_cast<int>(own % 4));
}
