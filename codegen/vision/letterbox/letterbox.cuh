#pragma once
#include "cuda/shared_memory.cuh"
#include "vision/letterbox/pixel.cuh"
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
                                             long long image, int y, int x, const Tap& down,
                                             const Tap* across) {
  const Picture picture = picture_of(arguments, image);
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
  const int across = (arguments.width + tile_width - 1) / tile_width;
  const int down = (arguments.height + tile_height - 1) / tile_height;
  const int part = static_cast<int>(blockIdx.x % (static_cast<long long>(across) * down));
  const long long image = blockIdx.x / (static_cast<long long>(across) * down);
  const int x = part % across * tile_width, y = part / across * tile_height;
  if (threadIdx.x == 0) {
    shared.place =
        place_of(arguments.picture_height, arguments.picture_width, arguments.height, arguments.width);
    if (part == 0) write_placement(arguments, shared.place, image);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tile_width; i += threads) {
    shared.columns[i] =
        tap_of<false>(x + i - shared.place.left, arguments.picture_width, shared.place.across);
  }
  for (int i = threadIdx.x; i < tile_height; i += threads) {
    shared.rows[i] = tap_of<true>(y + i - shared.place.top, arguments.picture_height, shared.place.down);
  }
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % Schedule::threads_x * pixels;
  if (x + column >= arguments.width) return;
#pragma unroll
  for (int i = 0; i < Schedule::rows; ++i) {
    const int row = i * Schedule::threads_y + static_cast<int>(threadIdx.x) / Schedule::threads_x;
    if (y + row < arguments.height) {
      write_pixels(arguments, shared, image, y + row, x + column, shared.rows[row], shared.columns + column);
    }
  }
}
