#pragma once
#include "convolution/conv2d/depthwise/channels.cuh"
#include "cuda/products.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, of groups of few channels, by tensor cores. A thread goes down
// rows×columns pixels of neighbouring channels, as in depthwise_rolling. A product of its warp is, for each
// thread, that of two of its pixels side by side and a pair of its channels: rows of A are the pixels of 8
// threads, columns of B the channels of 4, and a matrix of filters is diagonal but for groups. So a thread's
// fragments are what it has loaded, and a word of the image is a register: nothing is converted or moved.

constexpr int open_rows = (Problem::kernel_h - 1) / Problem::stride_h + 1;  // that see a row of the image
constexpr int pairs = vector / 2;                                           // of channels of a thread
constexpr int group_pairs = (group_channels + 1) / 2;
constexpr int slots = Problem::kernel_w * group_pairs;  // pairs of terms of a row of a filter
constexpr int filter_rows = Problem::kernel_h * slots;
using Sums = float[open_rows][Schedule::columns / 2][pairs][4];
using FilterRow = unsigned[slots][pairs];  // a thread's part of the matrices of filters

// Copies the block's filters to shared memory as the lanes' parts of B: of a pair of channels that a filter
// sees, and of the pair of filters, those of the lane's column. All else is zero.
__device__ __forceinline__ void load_filter_words(const Arguments& arguments, const Problem& problem,
                                                  int first_channel) {
  unsigned* words = dynamic_shared<unsigned>();
  for (int i = threadIdx.x; i < filter_rows * 32 * pairs; i += Schedule::threads) {
    const int pair = i % pairs, lane = i / pairs % 32, slot = i / pairs / 32;
    const int place = lane % 4, column = lane / 4;
    const int tap = slot / group_pairs, own = 2 * pair + column % 2;  // channel of the lane's thread
    const int channel = first_channel + place * vector + own;
    Packed<Element, 2> word = {};
    if (column / 2 == place && channel < problem.batch * group_channels) {
      const Element* filter =
          arguments.weight + static_cast<long long>(channel) * terms + tap * group_channels;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int seen = 2 * (slot % group_pairs) + half;
        if (group_channels > 1) {
          word.elements[half] = filter[seen];
        } else if (half == own % 2) {
          word.elements[half] = filter[0];
        }
      }
    }
    words[i] = word.bits;
  }
  __syncthreads();
}

__device__ __forceinline__ void load_filter_row(FilterRow& filters, int row) {
  const unsigned* words = dynamic_shared<unsigned>() + threadIdx.x % 32 * pairs;
#pragma unroll
  for (int slot = 0; slot < slots; ++slot) {
    using Words = Packed<unsigned, pairs>;
    const Words found = *reinterpret_cast<const Words*>(words + (row * slots + slot) * 32 * pairs);
#pragma unroll
    for (int pair = 0; pair < pairs; ++pair) filters[slot][pair] = found.elements[pair];
  }
}

// The pair of channels that a slot's terms are of, for a thread's pair of filters.
__device__ constexpr int seen_pair(int pair, int slot) {
  return pair / group_pairs * group_pairs + slot % group_pairs;
}

// Adds a row of the image, under a row of the filters, to the sums of a row of pixels.
template <int width>
__device__ __forceinline__ void add_row(float (&sums)[Schedule::columns / 2][pairs][4],
                                        const unsigned (&words)[width][pairs], const FilterRow& filters) {
  const auto word = [&](int column, int slot, int pair) {
    return words[column * Problem::stride_w + slot / group_pairs * Problem::dilation_w]
                [seen_pair(pair, slot)];
  };
#pragma unroll
  for (int slot = 0; slot < slots; slot += 2) {
#pragma unroll
    for (int column = 0; column < Schedule::columns; column += 2) {
#pragma unroll
      for (int pair = 0; pair < pairs; ++pair) {
        float (&own)[4] = sums[column / 2][pair];
        const unsigned first = word(column, slot, pair), second = word(column + 1, slot, pair);
        if (slot + 1 < slots) {
          const unsigned a[4] = {first, second, word(column, slot + 1, pair),
                                 word(column + 1, slot + 1, pair)};
          const unsigned b[2] = {filters[slot][pair], filters[slot + 1][pair]};
          add_product_anywhere<Element>(own, a, b);
        } else {
          const unsigned a[2] = {first, second};
          add_half_product_anywhere<Element>(own, a, filters[slot][pair]);
        }
      }
    }
  }
}

// Sums a pixel anew, by FMAs, if what tensor cores summed is not finite: of other groups' infinities and NaN
// they add products by zero.
__device__ __forceinline__ void correct(float (&sums)[vector], const Arguments& arguments,
                                        const Problem& problem, const ThreadTile& tile, int p, int q) {
  float probe = 0.0f;
#pragma unroll
  for (int l = 0; l < vector; ++l) probe = fmaf(sums[l], 0.0f, probe);
  if (probe == 0.0f) return;
#pragma unroll
  for (int l = 0; l < vector; ++l) sums[l] = 0.0f;
#pragma unroll 1
  for (int tap = 0; tap < Problem::kernel_h * Problem::kernel_w; ++tap) {
    const int y = p * Problem::stride_h - Problem::padding_h + tap / Problem::kernel_w * Problem::dilation_h;
    const int x = q * Problem::stride_w - Problem::padding_w + tap % Problem::kernel_w * Problem::dilation_w;
    Packed<Element, vector> seen = {};
    if (static_cast<unsigned>(y) < static_cast<unsigned>(problem.height) &&
        static_cast<unsigned>(x) < static_cast<unsigned>(problem.width))
      seen = load_global<vector, false>(arguments.x + tile.image * problem.stride_x_n +
                                        y * problem.stride_x_h + x * problem.stride_x_w + tile.channel);
    const Element* filters =
        arguments.weight + static_cast<long long>(tile.channel) * terms + tap * group_channels;
#pragma unroll
    for (int l = 0; l < vector; ++l) {
#pragma unroll
      for (int i = 0; i < group_channels; ++i)
        sums[l] =
            fmaf(to_float(seen.elements[seen_channel(l, i)]), to_float(filters[l * terms + i]), sums[l]);
    }
  }
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const ThreadTile tile(problem);
  load_filter_words(arguments, problem, tile.channel - tile.own_channel);
  const bool exists = tile.exists(problem);  // all lanes take part in products
  int y = exists ? tile.p * Problem::stride_h - Problem::padding_h : problem.height;  // all are outside
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
  const Element* source = arguments.x + tile.image * problem.stride_x_n + tile.channel;
  float biases[vector] = {};
  if (exists) load_biases(biases, arguments, tile.channel);

#if keep_filters
  FilterRow filters[Problem::kernel_h];
#  pragma unroll
  for (int r = 0; r < Problem::kernel_h; ++r) load_filter_row(filters[r], r);
#endif
  Sums sums = {};
  Line next;
  next.load(problem, source, y, x);
#pragma unroll 1
  for (int step = 0; step < Schedule::rows + open_rows - 1; ++step) {
#pragma unroll
    for (int i = 0; i < Problem::stride_h; ++i) {
      unsigned words[window_w][pairs];
#pragma unroll
      for (int j = 0; j < window_w; ++j) {
        Packed<unsigned, pairs> own;
        own.bits = next.elements[j].bits;
#pragma unroll
        for (int pair = 0; pair < pairs; ++pair) words[j][pair] = own.elements[pair];
      }
      next.load(problem, source, ++y, x);
#pragma unroll
      for (int row = open_rows - 1; row >= 0; --row) {
        const int r = row * Problem::stride_h + i;
        if (r >= Problem::kernel_h) continue;
        if (i == 0) {
#pragma unroll
          for (int j = 0; j < Schedule::columns / 2 * pairs * 4; ++j) {
            float& own = sums[row][j / 4 / pairs][j / 4 % pairs][j % 4];
            own = row > 0 ? sums[row - 1][j / 4 / pairs][j / 4 % pairs][j % 4] : 0.0f;
          }
        }
#if keep_filters
        add_row(sums[row], words, filters[r]);
#else
        FilterRow filters;
        load_filter_row(filters, r);
        add_row(sums[row], words, filters);
#endif
      }
    }
    const int p = tile.p + step - (open_rows - 1);
    if (step < open_rows - 1 || p >= problem.out_height || !exists) continue;
#pragma unroll
    for (int column = 0; column < Schedule::columns; ++column) {
      if (tile.q + column >= problem.out_width) continue;
      float own[vector];
#pragma unroll
      for (int l = 0; l < vector; ++l)
        own[l] = sums[open_rows - 1][column / 2][l / 2][column % 2 * 2 + l % 2];
      correct(own, arguments, problem, tile, p, tile.q + column);
      const long long line = static_cast<long long>(tile.image) * problem.out_height + p;
      store_pixel(arguments, problem, own, biases,
                  (line * problem.out_width + tile.q + column) * problem.ldd + tile.channel);
    }
  }
}
