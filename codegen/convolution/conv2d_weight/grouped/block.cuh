#pragma once
#include "convolution/conv2d/grouped/window.cuh"
#include "convolution/conv2d_weight/add_up.cuh"
#include "convolution/conv2d_weight/partials.cuh"
#include "convolution/conv2d_weight/pixel_tile.cuh"
// D = alpha·(the gradient by the weight), of groups of few channels and few filters. A thread has some
// filters of neighbouring groups, under all rows of taps or under one. It adds up tiles of pixels side by
// side: it loads their gradients once, and what they see for each of its rows. Then the threads of a block
// that have the same sums add them up by halves, and a second launch those of blocks, both in a fixed order.

constexpr int filters = Schedule::groups * Schedule::filters;  // of a thread
constexpr int rows = Schedule::rows_apart ? 1 : Problem::kernel_h;
constexpr int row_terms = Problem::kernel_w * group_channels;
constexpr int filter_parts = group_filters / Schedule::filters, row_parts = Problem::kernel_h / rows;
constexpr int parts = Schedule::group_threads * filter_parts * row_parts;  // threads with other sums
using Sums = float[rows * row_terms][filters];
using Gradients = float[Schedule::columns][filters];

// Filters from the thread's first one to another: its groups may have more.
__device__ constexpr int filter_place(int l) {
  return l / Schedule::filters * group_filters + l % Schedule::filters;
}

// Which sums a thread has.
struct ThreadPart {
  int own_tile;  // of those that threads with the same sums have at a time
  int row;       // the first one of taps
  int group, filter;

  explicit __device__ __forceinline__ ThreadPart(int first_group) {
    const int part = threadIdx.x / Schedule::group_threads;
    own_tile = part / filter_parts / row_parts;
    row = part / filter_parts % row_parts;
    group = first_group + threadIdx.x % Schedule::group_threads * Schedule::groups;
    filter = group * group_filters + part % filter_parts * Schedule::filters;
  }
};

// The gradients of a tile's pixels.
__device__ __forceinline__ void load_gradients(Gradients& gradients, const Arguments& arguments,
                                               const Problem& problem, const PixelTile& tile, int filter) {
  constexpr int width = Problem::vector_grad;
  const Element* source = arguments.grad + tile.first * problem.filters + filter;
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column, source += problem.filters)
#pragma unroll
    for (int l = 0; l < filters; l += width) {
      const bool there = tile.q + column < problem.out_width;
      const auto loaded = load_global_if<width>(there, source + filter_place(l));
      float some[width];
      to_floats(some, loaded.elements);
#pragma unroll
      for (int i = 0; i < width; ++i) gradients[column][l + i] = some[i];
    }
}

// Adds what the pixels see under a row of taps, times their gradients. Of pixels behind the last column,
// which see what is not theirs, nothing is added.
__device__ __forceinline__ void add_row(Sums& sums, const Gradients& gradients,
                                        const float (&numbers)[window_w][channels], int row,
                                        [[maybe_unused]] int pixels) {
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column) {
#if ragged
    if (column >= pixels) continue;
#endif
#pragma unroll
    for (int term = 0; term < row_terms; ++term) {
      const int s = term / group_channels, i = term % group_channels;
      const auto& seen = numbers[column * Problem::stride_w + s * Problem::dilation_w];
#pragma unroll
      for (int l = 0; l < filters; ++l) {
        float& sum = sums[row * row_terms + term][l];
        sum = fmaf(gradients[column][l], seen[l / Schedule::filters * group_channels + i], sum);
      }
    }
  }
}

__device__ __forceinline__ void add_tile(Sums& sums, const Arguments& arguments, const Problem& problem,
                                         const ThreadPart& part, const PixelTile& tile) {
  Gradients gradients;
  load_gradients(gradients, arguments, problem, tile, part.filter);
  const Element* source = arguments.x + tile.image * problem.stride_x_n + part.group * group_channels;
  const int y = tile.p * Problem::stride_h - Problem::padding_h + part.row * Problem::dilation_h;
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    float numbers[window_w][channels];
    load_line(numbers, problem, source, y + row * Problem::dilation_h, x);
    add_row(sums, gradients, numbers, row, problem.out_width - tile.q);
  }
}

// Leaves the sums of the block.
__device__ __forceinline__ void store_sums(const Sums& sums, const Arguments& arguments,
                                           const Problem& problem, const ThreadPart& part, int split) {
  constexpr int width = Problem::vector_sums;
#pragma unroll
  for (int term = 0; term < rows * row_terms; ++term) {
    float* own =
        arguments.partials + partials_place(problem, split, part.row * row_terms + term) + part.filter;
#pragma unroll
    for (int l = 0; l < filters; l += width) copy_vector<width>(own + filter_place(l), sums[term] + l);
  }
}

__device__ __forceinline__ void conv2d_weight_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int block_groups = Schedule::group_threads * Schedule::groups;
  const int group_blocks = (problem.batch - 1) / block_groups + 1, split = blockIdx.x / group_blocks;
  const ThreadPart part(blockIdx.x % group_blocks * block_groups);
  Sums sums = {};
  if (part.group < problem.batch && part.own_tile < Schedule::tile_threads) {
    const unsigned tiles = PixelTile::count(problem);
    for (unsigned tile = split * Schedule::tile_threads + part.own_tile; tile < tiles;
         tile += Schedule::splits * Schedule::tile_threads)
      add_tile(sums, arguments, problem, part, PixelTile(problem, tile));
  }
  add_up<parts, Schedule::tile_threads>(sums, [&] {
    if (part.group < problem.batch) store_sums(sums, arguments, problem, part, split);
  });
}
