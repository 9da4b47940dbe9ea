#pragma once
#include "cuda/packed.cuh"
#include "vision/scale_boxes/corner.cuh"

// A thread for each box.
__device__ __forceinline__ void scale_boxes_block(const Arguments& arguments) {
  constexpr int width = Problem::vector_width;
  const long long own = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  if (own >= static_cast<long long>(arguments.batch) * arguments.count) return;
  const float* placement = arguments.placement + own / arguments.count * 3;
#pragma unroll
  for (int first = 0; first < 4; first += width) {
    Packed<float, width> corners = load_global<width, false>(arguments.boxes + own * 4 + first);
#pragma unroll
    for (int i = 0; i < width; ++i) {
      corners.elements[i] = scaled_corner(arguments, placement, corners.elements[i], first + i);
    }
    store_global<false>(arguments.scaled + own * 4 + first, corners);
  }
}
