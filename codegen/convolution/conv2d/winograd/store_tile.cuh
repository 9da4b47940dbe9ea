#pragma once
#include "convolution/conv2d/store_finished.cuh"
#include "convolution/conv2d/winograd/transform.cuh"

// Stores the pixels of a tile of the result, of neighbouring filters, as far as they are in the image.
template <int width>
__device__ __forceinline__ void store_tile(const Arguments& arguments, const Problem& problem,
                                           const float (&pixels)[outputs][outputs][width], long long number,
                                           int filter) {
  const ResultTile tile(problem, number);
#pragma unroll
  for (int i = 0; i < outputs; ++i) {
#pragma unroll
    for (int j = 0; j < outputs; ++j) {
      if (tile.p + i >= problem.out_height || tile.q + j >= problem.out_width) continue;
      const long long line = static_cast<long long>(tile.image) * problem.out_height + tile.p + i;
      store_finished<width>(arguments, problem, pixels[i][j], line * problem.out_width + tile.q + j, filter);
    }
  }
}
