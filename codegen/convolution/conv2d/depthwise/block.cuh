#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/shared_memory.cuh"
#include "epilogue/activation.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, where each channel has a filter of its own. A thread computes
// rows×columns pixels of neighbouring channels. It loads each element that these see once, and adds it to all
// of their sums. Of one row, there is a loop over the rows of the filter; else all is written out.

using Element = Problem::Element;
constexpr int vector = Schedule::vector;
constexpr int block_channels = Schedule::channel_threads * vector;
constexpr int taps = Problem::kernel_h * Problem::kernel_w;
// What the pixels of a thread see.
constexpr int window_h =
    (Schedule::rows - 1) * Problem::stride_h + (Problem::kernel_h - 1) * Problem::dilation_h + 1;
constexpr int window_w =
    (Schedule::columns - 1) * Problem::stride_w + (Problem::kernel_w - 1) * Problem::dilation_w + 1;

// The tap under which a pixel, counted from the thread's first one, sees a place of the window; -1 if none.
__device__ constexpr int tap_of(int place, int pixel, int stride, int dilation, int kernel) {
  const int distance = place - pixel * stride;
  return distance >= 0 && distance % dilation == 0 && distance / dilation < kernel ? distance / dilation : -1;
}

// Copies the filters of the block's channels to shared memory: tap by tap, channels side by side.
__device__ __forceinline__ void load_filters(const Arguments& arguments, const Problem& problem,
                                             float* filters, int first_channel) {
  const Element* weight = arguments.weight + static_cast<long long>(first_channel) * taps;
  const int left = min(block_channels, problem.batch - first_channel) * taps;
  for (int i = threadIdx.x; i < block_channels * taps; i += Schedule::threads)
    filters[i % taps * block_channels + i / taps] = i < left ? to_float(weight[i]) : 0.0f;
  __syncthreads();
}

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
        const float* filter = filters + (rows[row] * Problem::kernel_w + s) * block_channels;
#pragma unroll
        for (int l = 0; l < vector; ++l)
          sums[row][column][l] = fmaf(elements[l], filter[l], sums[row][column][l]);
      }
    }
  }
}

// Stores a pixel of the thread's channels.
__device__ __forceinline__ void store_pixel(const Arguments& arguments, const Problem& problem,
                                            const float (&sums)[vector], const float (&biases)[vector],
                                            long long place) {
  Packed<Element, vector> before = {}, result;
#if beta_nonzero
  before.bits = *reinterpret_cast<const typename Packed<Element, vector>::Bits*>(arguments.c + place);
#endif
  float elements[vector];
#pragma unroll
  for (int i = 0; i < vector; ++i)
    elements[i] = finished(arguments, problem, sums[i], biases[i], to_float(before.elements[i]));
  from_floats(result.elements, elements);
  store_global<false>(arguments.d + place, result);
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int tiles_h = (problem.out_height - 1) / Schedule::rows + 1;
  const int tiles_w = (problem.out_width - 1) / Schedule::columns + 1;
  const int channel_blocks = (problem.batch - 1) / block_channels + 1;
  const int first_channel = blockIdx.x % channel_blocks * block_channels;
  float* filters = dynamic_shared<float>();
  load_filters(arguments, problem, filters, first_channel);

  constexpr int tiles_a_block = Schedule::threads / Schedule::channel_threads;
  const int own_channel = threadIdx.x % Schedule::channel_threads * vector;
  const long long tile = static_cast<long long>(blockIdx.x / channel_blocks) * tiles_a_block +
                         threadIdx.x / Schedule::channel_threads;
  const int channel = first_channel + own_channel;
  const int image = tile / tiles_w / tiles_h;
  if (channel >= problem.batch || image >= problem.images) return;
  const int p = tile / tiles_w % tiles_h * Schedule::rows, q = tile % tiles_w * Schedule::columns;
  const int y = p * Problem::stride_h - Problem::padding_h, x = q * Problem::stride_w - Problem::padding_w;
  const Element* source = arguments.x + image * problem.stride_x_n + channel;

  Sums sums = {};
  const auto add = [&](int i, const Rows& rows) {
    const bool inside = static_cast<unsigned>(y + i) < static_cast<unsigned>(problem.height);
    add_line(sums, problem, source + (y + i) * problem.stride_x_h, inside, x, filters + own_channel, rows);
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
#if bias
#  pragma unroll
  for (int l = 0; l < vector; ++l) biases[l] = to_float(arguments.bias[channel + l]);
#endif
#pragma unroll
  for (int row = 0; row < Schedule::rows; ++row) {
#pragma unroll
    for (int column = 0; column < Schedule::columns; ++column) {
      if (p + row >= problem.out_height || q + column >= problem.out_width) continue;
      const long long line = static_cast<long long>(image) * problem.out_height + p + row;
      const long long place = (line * problem.out_width + q + column) * problem.ldd + channel;
      store_pixel(arguments, problem, sums[row][column], biases, place);
    }
  }
}
