#pragma once
#include "convolution/conv2d/depthwise/channels.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, where each channel has a filter of its own. A thread computes
// rows×columns pixels of neighbouring channels. It loads each element that these see once, and adds it to all
// of their sums. Of one row, there is a loop over the rows of the filter; else all is written out.

// Rows that the pixels of a thread see.
constexpr int window_h =
    (Schedule::rows - 1) * Problem::stride_h + (Problem::kernel_h - 1) * Problem::dilation_h + 1;

using Sums = float[Schedule::rows][Schedule::columns][vector];
using Rows =
    int[Schedule::rows];  // of a filter, under which each row of pixels sees a line; -1 if it does not

// Adds what a line of the image has for the pixels of a thread, from column `x` on.
__device__ __forceinline__ void add_line(Sums& sums, const Problem& problem, const Element* line, bool inside,
                                         int x, const float* filters, const Rows& rows) {
#pragma unroll
  for (int j = 0; j < window_w; ++j) {
    Packed<Element, vector> loaded = {};
    if (inside && static_cast<unsigned>(x + j) < static_cast<unsigned>(problem.width))
      loaded = load_global<vector, false>(line + (x + j) * problem.stride_x_w);
    float elements[vector];
    to_floats(elements, loaded.elements);
#pragma unroll
    for (int row = 0; row < Schedule::rows; ++row) {
      if (rows[row] < 0) continue;
#pragma unroll
      for (int column = 0; column < Schedule::columns; ++column) {
        const int s = tap_of(j, column, Problem::stride_w, Problem::dilation_w, Problem::kernel_w);
        if (s < 0) continue;
        float tap[vector];
        load_tap(tap, filters, rows[row] * Problem::kernel_w + s);
#pragma unroll
        for (int l = 0; l < vector; ++l)
          sums[row][column][l] = fmaf(elements[l], tap[l], sums[row][column][l]);
      }
    }
  }
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const ThreadTile tile(problem);
  float* filters = dynamic_shared<float>();
  load_filters(arguments, problem, filters, tile.channel - tile.own_channel);
  if (!tile.exists(problem)) return;
  const int y = tile.p * Problem::stride_h - Problem::padding_h;
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
  const Element* source = arguments.x + tile.image * problem.stride_x_n + tile.channel;

  Sums sums = {};
  const auto add = [&](int i, const Rows& rows) {
    const bool inside = static_cast<unsigned>(y + i) < static_cast<unsigned>(problem.height);
    add_line(sums, problem, source + (y + i) * problem.stride_x_h, inside, x, filters + tile.own_channel,
             rows);
  };
#if rows == 1
#  pragma unroll 1
  for (int r = 0; r < Problem::kernel_h; ++r) add(r * Problem::dilation_h, {r});
#else
#  pragma unroll
  for (int i = 0; i < window_h; ++i) {
    Rows rows;
    bool seen = false;
#  pragma unroll
    for (int row = 0; row < Schedule::rows; ++row) {
      rows[row] = tap_of(i, row, Problem::stride_h, Problem::dilation_h, Problem::kernel_h);
      seen |= rows[row] >= 0;
    }
    if (seen) add(i, rows);
  }
#endif

  float biases[vector] = {};
  load_biases(biases, arguments, tile.channel);
#pragma unroll
  for (int row = 0; row < Schedule::rows; ++row)
    store_row(arguments, problem, tile, tile.p + row, sums[row], biases);
}
