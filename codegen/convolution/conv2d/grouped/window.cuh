#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/vector.cuh"
// What a thread sees of an image for pixels side by side, where it has, or its warp, the few channels of
// neighbouring groups.

using Element = Problem::Element;
constexpr int group_channels = Problem::group_channels, group_filters = Problem::group_filters;
constexpr int channels = Schedule::groups * group_channels;  // of a thread, or of its warp
// Columns that the pixels of a thread see.
constexpr int window_w =
    (Schedule::columns - 1) * Problem::stride_w + (Problem::kernel_w - 1) * Problem::dilation_w + 1;

// The numbers of a row of an image that the thread's pixels see. All loads are in flight together.
__device__ __forceinline__ void load_line(float (&numbers)[window_w][channels], const Problem& problem,
                                          const Element* source, int row, int column) {
  constexpr int width = Problem::vector_x, accesses = channels / width;
  const bool inside = static_cast<unsigned>(row) < static_cast<unsigned>(problem.height);
  const Element* place = source + row * problem.stride_x_h + column * problem.stride_x_w;
  Packed<Element, width> line[window_w][accesses];
#pragma unroll
  for (int j = 0; j < window_w; ++j, place += problem.stride_x_w) {
    const bool there = inside && static_cast<unsigned>(column + j) < static_cast<unsigned>(problem.width);
#pragma unroll
    for (int i = 0; i < accesses; ++i) line[j][i] = load_global_if<width>(there, place + i * width);
  }
#pragma unroll
  for (int j = 0; j < window_w; ++j)
#pragma unroll
    for (int i = 0; i < accesses; ++i) {
      float some[width];
      to_floats(some, line[j][i].elements);
#pragma unroll
      for (int l = 0; l < width; ++l) numbers[j][i * width + l] = some[l];
    }
}
