#pragma once
#include "convolution/conv2d/depthwise/channels.cuh"
#include "convolution/conv2d_weight/partials.cuh"
#include "convolution/conv2d_weight/pixel_tile.cuh"
// D = alpha·(the gradient by the weight), where each channel has a filter of its own. A thread adds up all
// taps of its channels over tiles of pixels: it loads the gradient of a tile once, and what the tile sees for
// each row of the filter. Then the threads of a block that have the same channels add up their sums, and a
// second launch those of blocks, both in a fixed order.

constexpr int taps = Problem::kernel_h * Problem::kernel_w;
constexpr int tile_threads = Schedule::threads / Schedule::channel_threads;
using Sums = float[taps][vector];
using Gradients = float[Schedule::columns][vector];

// Adds a row of the filter's taps: what the pixels see in a line, times their gradients. Of pixels behind the
// last column, which see what is not theirs, nothing is added.
__device__ __forceinline__ void add_line(Sums& sums, const Gradients& gradients, const Line& line, int row,
                                         [[maybe_unused]] int pixels) {
  float elements[window_w][vector];
#pragma unroll
  for (int j = 0; j < window_w; ++j) to_floats(elements[j], line.elements[j].elements);
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column) {
#if ragged
    if (column >= pixels) continue;
#endif
#pragma unroll
    for (int s = 0; s < Problem::kernel_w; ++s) {
      const auto& seen = elements[column * Problem::stride_w + s * Problem::dilation_w];
#pragma unroll
      for (int l = 0; l < vector; ++l) {
        float& sum = sums[row * Problem::kernel_w + s][l];
        sum = fmaf(gradients[column][l], seen[l], sum);
      }
    }
  }
}

__device__ __forceinline__ void add_tile(Sums& sums, const Arguments& arguments, const Problem& problem,
                                         const PixelTile& tile, int channel) {
  const int pixels = problem.out_width - tile.q;
  const Element* gradient = arguments.grad + tile.first * problem.filters + channel;
  Gradients gradients;
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column) {
    const Element* own = gradient + static_cast<long long>(column) * problem.filters;
#if ragged
    const auto loaded = load_global_if<vector>(column < pixels, own);
#else
    const auto loaded = load_global<vector, false>(own);
#endif
    to_floats(gradients[column], loaded.elements);
  }
  const Element* source = arguments.x + tile.image * problem.stride_x_n + channel;
  const int y = tile.p * Problem::stride_h - Problem::padding_h;
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
#pragma unroll
  for (int row = 0; row < Problem::kernel_h; ++row) {
    Line seen;
    seen.load(problem, source, y + row * Problem::dilation_h, x);
    add_line(sums, gradients, seen, row, pixels);
  }
}

__device__ __forceinline__ void conv2d_weight_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int channel_blocks = (problem.filters - 1) / block_channels + 1;
  const int first_channel = blockIdx.x % channel_blocks * block_channels, split = blockIdx.x / channel_blocks;
  const int own_channel = threadIdx.x % Schedule::channel_threads * vector;
  const int own_tile = threadIdx.x / Schedule::channel_threads;
  const unsigned tiles = PixelTile::count(problem);
  Sums sums = {};
  if (first_channel + own_channel < problem.filters) {
    for (unsigned tile = split * tile_threads + own_tile; tile < tiles;
         tile += Schedule::splits * tile_threads)
      add_tile(sums, arguments, problem, PixelTile(problem, tile), first_channel + own_channel);
  }

  float* shared = dynamic_shared<float>();
  constexpr int width = vector < 4 ? vector : 4;
#pragma unroll
  for (int tap = 0; tap < taps; ++tap) {
    float* own = shared + (tap * tile_threads + own_tile) * block_channels + own_channel;
#pragma unroll
    for (int l = 0; l < vector; l += width) copy_vector<width>(own + l, sums[tap] + l);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < taps * block_channels; i += Schedule::threads) {
    const int tap = i / block_channels, channel = i % block_channels;
    float sum = 0.0f;
    for (int other = 0; other < tile_threads; ++other)
      sum += shared[(tap * tile_threads + other) * block_channels + channel];
    const long long place = partials_place(problem, split, tap) + first_channel + channel;
    if (first_channel + channel < problem.filters) arguments.partials[place] = sum;
  }
}
