#pragma once
#include "convolution/conv2d/depthwise/channels.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, of groups of few channels. A thread computes rows×columns
// pixels of neighbouring channels. It loads each element that these see once, and adds it to all
// of their sums. Of one row, there is a loop over the rows of the filter; else all is written out.

// Rows that the pixels of a thread see.
constexpr int window_h =
    (Schedule::rows - 1) * Problem::stride_h + (Problem::kernel_h - 1) * Problem::dilation_h + 1;

using Sums = float[Schedule::rows][Schedule::columns][vector];
using Rows =
    int[Schedule::rows];  // of a filter, under which each row of pixels sees a line; -1 if it does not

// Adds what a line of the image has for the pixels of a thread.
__device__ __forceinline__ void add_line(Sums& sums, const Line& line, const float* filters,
                                         const Rows& rows) {
#pragma unroll
  for (int j = 0; j < window_w; ++j) {
    float elements[vector];
    to_floats(elements, line.elements[j].elements);
#pragma unroll
    for (int row = 0; row < Schedule::rows; ++row) {
      if (rows[row] < 0) continue;
#pragma unroll
      for (int column = 0; column < Schedule::columns; ++column) {
        const int s = tap_of(j, column, Problem::stride_w, Problem::dilation_w, Problem::kernel_w);
        if (s < 0) continue;
#pragma unroll
        for (int i = 0; i < group_channels; ++i) {
          float factors[vector];
          load_factors(factors, filters, (rows[row] * Problem::kernel_w + s) * group_channels + i);
#pragma unroll
          for (int l = 0; l < vector; ++l)
            sums[row][column][l] = fmaf(elements[seen_channel(l, i)], factors[l], sums[row][column][l]);
        }
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
    Line line;  // whose loads are in flight together
    line.load(problem, source, y + i, x);
    add_line(sums, line, filters + tile.own_channel, rows);
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
