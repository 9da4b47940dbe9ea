#pragma once
#include "convolution/conv2d/grouped/window.cuh"
#include "convolution/conv2d_weight/add_up.cuh"
#include "convolution/conv2d_weight/partials.cuh"
#include "convolution/conv2d_weight/pixel_tile.cuh"
#include "cuda/products.cuh"
// D = alpha·(the gradient by the weight), of groups of few channels, by tensor cores. A warp has the channels
// of neighbouring groups, 16 at most, and their filters in slices of 16. Rows of a product are filters, its
// columns 8 channels, and its terms 16 pixels: four threads have tiles of pixels of their own, and share a
// row and a column. A thread loads pairs of channels and of filters, as they lie in memory, and joins those
// of two pixels: even filters are the first 8 rows of a product, odd ones the others, and even and odd
// channels have products of their own. Sums of filters and channels of different groups are not stored.

constexpr int filters = Schedule::groups * group_filters;  // of a warp
constexpr int slices = (filters - 1) / 16 + 1;
constexpr int rows = Schedule::rows_apart ? 1 : Problem::kernel_h, row_parts = Problem::kernel_h / rows;
constexpr int parts = 32 * Schedule::group_warps * row_parts;  // threads with other sums
constexpr int products = Schedule::columns / 4;                // for the pixels of a thread
using Sums = float[rows * Problem::kernel_w * slices * 2][4];
using Gradients = unsigned[products][slices][4];

// What a thread has of the sums.
struct ThreadPart {
  int row;    // the first one of taps
  int group;  // the first one of the warp
  int pair;   // of 8, of channels and of filters

  explicit __device__ __forceinline__ ThreadPart(int first_group) {
    const int warp = threadIdx.x / 32;
    row = warp / Schedule::group_warps % row_parts;
    group = first_group + warp % Schedule::group_warps * Schedule::groups;
    pair = threadIdx.x % 32 / 4;
  }
};

// Two neighbours, as they lie in memory; zeros if not `there`.
__device__ __forceinline__ unsigned load_pair(bool there, const Element* source) {
  return load_global_if<2>(there, source).bits;
}

// The first of the neighbours of two pixels, or the second ones.
__device__ __forceinline__ unsigned join(unsigned pixel, unsigned next, int which) {
  return __byte_perm(pixel, next, which == 0 ? 0x5410 : 0x7632);
}

// What a thread loads of a tile: its gradients, and what its pixels see for each row of taps. A tile behind
// the last one has no pixels.
struct Loaded {
  int pixels;  // to the end of their row
  unsigned gradients[slices][Schedule::columns];
  unsigned seen[rows][window_w];

  __device__ __forceinline__ void load(const Arguments& arguments, const Problem& problem,
                                       const ThreadPart& part, unsigned number) {
    const PixelTile tile(problem, number);
    const bool exists = number < PixelTile::count(problem);
    pixels = exists ? problem.out_width - tile.q : 0;
    const Element* gradient =
        arguments.grad + tile.first * problem.filters + part.group * group_filters + part.pair * 2;
#pragma unroll
    for (int column = 0; column < Schedule::columns; ++column, gradient += problem.filters)
#pragma unroll
      for (int slice = 0; slice < slices; ++slice)
        gradients[slice][column] =
            load_pair(column < pixels && slice * 16 + part.pair * 2 < filters, gradient + slice * 16);
    const int y = tile.p * Problem::stride_h - Problem::padding_h + part.row * Problem::dilation_h;
    const int x = tile.q * Problem::stride_w - Problem::padding_w;
    const Element* source = arguments.x + tile.image * problem.stride_x_n + x * problem.stride_x_w +
                            part.group * group_channels + part.pair * 2;
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const int line = y + row * Problem::dilation_h;
      const bool inside = exists && part.pair * 2 < channels &&
                          static_cast<unsigned>(line) < static_cast<unsigned>(problem.height);
      const Element* place = source + line * problem.stride_x_h;
#pragma unroll
      for (int j = 0; j < window_w; ++j, place += problem.stride_x_w) {
        const bool there = inside && static_cast<unsigned>(x + j) < static_cast<unsigned>(problem.width);
        seen[row][j] = load_pair(there, place);
      }
    }
  }
};

// Adds the products of a row of taps. What pixels behind the last column see is not theirs.
__device__ __forceinline__ void add_row(Sums& sums, const Gradients& gradients, const Loaded& loaded,
                                        int row) {
#pragma unroll
  for (int s = 0; s < Problem::kernel_w; ++s)
#pragma unroll
    for (int i = 0; i < products * 2; ++i) {
      unsigned seen[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = i / 2 * 4 + half * 2;
        const unsigned* first = loaded.seen[row] + column * Problem::stride_w + s * Problem::dilation_w;
        seen[half] = join(first[0], first[Problem::stride_w], i % 2);
#if ragged
        seen[half] &=
            (column < loaded.pixels ? 0xffffu : 0u) | (column + 1 < loaded.pixels ? 0xffff0000u : 0u);
#endif
      }
#pragma unroll
      for (int slice = 0; slice < slices; ++slice)
        add_product_anywhere<Element>(sums[((row * Problem::kernel_w + s) * slices + slice) * 2 + i % 2],
                                      gradients[i / 2][slice], seen);
    }
}

// Adds the tiles of a warp, one of each thread that shares a product.
__device__ __forceinline__ void add_tiles(Sums& sums, const Loaded& loaded) {
  Gradients gradients;
#pragma unroll
  for (int slice = 0; slice < slices; ++slice)
#pragma unroll
    for (int i = 0; i < products * 4; ++i) {
      const unsigned* pixel = loaded.gradients[slice] + i / 2 * 2;
      gradients[i / 4][slice][i % 4] = join(pixel[0], pixel[1], i % 2);
    }
#pragma unroll
  for (int row = 0; row < rows; ++row) add_row(sums, gradients, loaded, row);
}

// Leaves the sums of the block, of filters and channels of the same group.
__device__ __forceinline__ void store_sums(const Sums& sums, const Arguments& arguments,
                                           const Problem& problem, const ThreadPart& part, int split) {
#pragma unroll
  for (int i = 0; i < rows * Problem::kernel_w * slices * 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int tap = part.row * Problem::kernel_w + i / (2 * slices), slice = i / 2 % slices;
      const int filter = slice * 16 + part.pair * 2 + j / 2;
      const int channel = (threadIdx.x % 4 * 2 + j % 2) * 2 + i % 2;
      if (filter < filters && channel < channels && filter / group_filters == channel / group_channels)
        arguments.partials[partials_place(problem, split, tap * group_channels + channel % group_channels) +
                           part.group * group_filters + filter] = sums[i][j];
    }
}

__device__ __forceinline__ void conv2d_weight_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int block_groups = Schedule::group_warps * Schedule::groups;
  constexpr int block_tiles = Schedule::tile_warps * 4;
  const int group_blocks = (problem.batch - 1) / block_groups + 1, split = blockIdx.x / group_blocks;
  const ThreadPart part(blockIdx.x % group_blocks * block_groups);
  const bool exists = part.group < problem.batch;
  Sums sums = {};
  if (exists) {
    const unsigned tiles = PixelTile::count(problem), step = Schedule::splits * block_tiles;
    unsigned tile = split * block_tiles + threadIdx.x / parts * 4;  // of the warp
    Loaded next;
    if (Schedule::ahead) next.load(arguments, problem, part, tile + threadIdx.x % 4);
    for (; tile < tiles; tile += step) {
      Loaded own = next;
      (Schedule::ahead ? next : own)
          .load(arguments, problem, part, tile + (Schedule::ahead ? step : 0) + threadIdx.x % 4);
      add_tiles(sums, own);
    }
  }
  add_up<parts, Schedule::tile_warps>(sums, [&] {
    if (exists) store_sums(sums, arguments, problem, part, split);
  });
}
