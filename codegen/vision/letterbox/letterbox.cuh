#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/letterbox/part.cuh"
// A block for each part of a target, with the taps of its rows and columns in shared memory.

constexpr int pixels = Schedule::pixels, threads = Schedule::threads_x * Schedule::threads_y;
constexpr int tile_width = Schedule::threads_x * pixels, tile_height = Schedule::threads_y * Schedule::rows;

struct Shared {
  Tap columns[tile_width];
  Tap rows[tile_height];
  Place place;
};

// Neighbours of a row, from column `x` on, and the numbers of all channels.
__device__ __forceinline__ void write_pixels(const Arguments& arguments, const Shared& shared,
                                             const Picture& picture, long long image, int y, int x,
                                             const Tap& down, const Tap* across) {
  const int row = y - shared.place.top, first = x - shared.place.left;
  const bool of_picture = row >= 0 && row < shared.place.height;
  Element numbers[3][pixels];
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const bool inside = of_picture && first + i >= 0 && first + i < shared.place.width;
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      numbers[channel][i] = inside ? resized(arguments, picture, down, across[i], channel)
                                   : number_of(arguments, arguments.pad, channel);
    }
  }
  store_pixels(arguments, image, y, x, numbers);
}

__device__ __forceinline__ void letterbox_block(const Arguments& arguments) {
  Shared& shared = *dynamic_shared<Shared>();
  const Part part = part_of<tile_width, tile_height>(arguments);
  const Picture picture = placed_picture(arguments, part, shared.place);
  for (int i = threadIdx.x; i < tile_width; i += threads) {
    shared.columns[i] = tap_of<false>(part.x + i - shared.place.left, picture.width, shared.place.across);
  }
  for (int i = threadIdx.x; i < tile_height; i += threads) {
    shared.rows[i] = tap_of<true>(part.y + i - shared.place.top, picture.height, shared.place.down);
  }
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % Schedule::threads_x * pixels;
  if (part.x + column >= arguments.width) return;
#pragma unroll
  for (int i = 0; i < Schedule::rows; ++i) {
    const int row = i * Schedule::threads_y + static_cast<int>(threadIdx.x) / Schedule::threads_x;
    if (part.y + row >= arguments.height) break;
    write_pixels(arguments, shared, picture, part.image, part.y + row, part.x + column, shared.rows[row],
                 shared.columns + column);
  }
}
