#pragma once
#include "convolution/conv2d/depthwise/channels.cuh"
#include "cuda/opaque.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, of groups of few channels. A thread goes down rows×columns
// pixels of neighbouring channels. It loads each row of the image that these see once, while the
// one before is added to the sums of all rows of pixels that see it.

// Rows of pixels that see a row of the image.
constexpr int open_rows = (Problem::kernel_h - 1) / Problem::stride_h + 1;
using Sums = float[open_rows][Schedule::columns][vector];

// Adds row `i` of the `stride_h` of a step to the sums of the rows of pixels that see it. The first product
// of a step goes on from the row before, which is free. Of the steps at both ends, some rows are other
// threads', whose sums nobody reads.
__device__ __forceinline__ void add_line(Sums& sums, const Line& line, const float* filters, int i,
                                         int step) {
  float elements[window_w][vector];
#pragma unroll
  for (int j = 0; j < window_w; ++j) to_floats(elements[j], line.elements[j].elements);
  make_words_opaque(elements);  // else they would be converted for each row anew
#pragma unroll
  for (int row = open_rows - 1; row >= 0; --row) {
    const int r = row * Problem::stride_h + i;
    if (r >= Problem::kernel_h || step < row || step - row >= Schedule::rows) continue;
#pragma unroll
    for (int s = 0; s < Problem::kernel_w; ++s) {
#pragma unroll
      for (int channel = 0; channel < group_channels; ++channel) {
        const bool first = i == 0 && s == 0 && channel == 0;
        float factors[vector];
        load_factors(factors, filters, (r * Problem::kernel_w + s) * group_channels + channel);
#pragma unroll
        for (int column = 0; column < Schedule::columns; ++column) {
          const auto& seen = elements[column * Problem::stride_w + s * Problem::dilation_w];
#pragma unroll
          for (int l = 0; l < vector; ++l) {
            const float before = !first ? sums[row][column][l] : row > 0 ? sums[row - 1][column][l] : 0.0f;
            sums[row][column][l] = fmaf(seen[seen_channel(l, channel)], factors[l], before);
          }
        }
      }
    }
  }
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const ThreadTile tile(problem);
  load_filters(arguments, problem, dynamic_shared<float>(), tile.channel - tile.own_channel);
  if (!tile.exists(problem)) return;
  int first_tap = tile.own_channel;
  int y = tile.p * Problem::stride_h - Problem::padding_h;
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
  const Element* source = arguments.x + tile.image * problem.stride_x_n + tile.channel;
  float biases[vector] = {};
  load_biases(biases, arguments, tile.channel);

  Sums sums = {};
  Line next;
  next.load(problem, source, y, x);
#pragma unroll 1
  for (int step = 0; step < Schedule::rows + open_rows - 1; ++step) {
    make_opaque(first_tap);  // else the filters would be kept in registers
#pragma unroll
    for (int i = 0; i < Problem::stride_h; ++i) {
      const Line line = next;
      next.load(problem, source, ++y, x);
      add_line(sums, line, dynamic_shared<float>() + first_tap, i, step);
    }
    if (step >= open_rows - 1)
      store_row(arguments, problem, tile, tile.p + step - (open_rows - 1), sums[open_rows - 1], biases);
  }
}
