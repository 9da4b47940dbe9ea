#pragma once
#include "convolution/conv2d/depthwise_mma/diagonal.cuh"
#include "cuda/shared_memory.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, of groups of few channels, by tensor cores. A thread loads a row
// of the image while it multiplies the one before.

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const ThreadTile tile(problem);
  load_filters(dynamic_shared<unsigned>(), arguments, problem, tile.channel - tile.own_channel);
  const bool exists = tile.exists(problem);  // all lanes take part in products
  int y = exists ? tile.p * Problem::stride_h - Problem::padding_h : problem.height;  // all are outside
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
  const Element* source = arguments.x + tile.image * problem.stride_x_n + tile.channel;
  float biases[vector] = {};
  if (exists) load_biases(biases, arguments, tile.channel);

  const Filters filters(dynamic_shared<unsigned>());
  Sums sums = {};
  Line next;
  next.load(problem, source, y, x);
#pragma unroll 1
  for (int step = 0; step < Schedule::rows + open_rows - 1; ++step) {
#pragma unroll
    for (int i = 0; i < Problem::stride_h; ++i) {
      Row words;
#pragma unroll
      for (int j = 0; j < window_w; ++j) {
        Packed<unsigned, pairs> packed;
        packed.bits = next.elements[j].bits;
        unpack(words[j], packed);
      }
      next.load(problem, source, ++y, x);
      add_line(sums, words, filters, i);
    }
    const int p = tile.p + step - (open_rows - 1);
    if (step < open_rows - 1 || p >= problem.out_height || !exists) continue;
    const long long line = static_cast<long long>(tile.image) * problem.out_height + p;
    store_pixels(arguments, problem, tile, p,
                 (line * problem.out_width + tile.q) * problem.ldd + tile.channel, sums, biases);
  }
}
