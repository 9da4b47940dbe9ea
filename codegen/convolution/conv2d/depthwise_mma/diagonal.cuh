#pragma once
#include "convolution/conv2d/depthwise/channels.cuh"
#include "cuda/products.cuh"
// Groups of few channels by tensor cores. A thread goes down rows×columns pixels of neighbouring channels, as
// in depthwise_rolling. A product of its warp is, for each thread, that of two of its pixels side by side and
// a pair of its channels: rows of A are the pixels of 8 threads, columns of B the channels of 4, and a matrix
// of filters is diagonal but for groups. So a thread's fragments are its elements of the image, a pair in a
// register: nothing is converted, or moved between lanes.

constexpr int open_rows = (Problem::kernel_h - 1) / Problem::stride_h + 1;  // that see a row of the image
constexpr int pairs = vector / 2;                                           // of channels of a thread
constexpr int group_pairs = (group_channels + 1) / 2;
constexpr int slots = Problem::kernel_w * group_pairs;        // pairs of terms of a row of a filter
constexpr int channel_warps = Schedule::channel_threads / 4;  // of a block, side by side along the channels
constexpr int filter_words = Problem::kernel_h * slots * 32 * pairs;  // of a warp
using Sums = float[open_rows][Schedule::columns / 2][pairs][4];
using Row = unsigned[window_w][pairs];     // of the image, that a thread's pixels see
using FilterRow = unsigned[slots][pairs];  // a thread's part of the matrices of filters

// Copies the filters of a block's warps to shared memory as the lanes' parts of B: of a pair of channels that
// a filter sees, and of the pair of filters, those of the lane's column. All else is zero.
__device__ __forceinline__ void load_filters(unsigned* words, const Arguments& arguments,
                                             const Problem& problem, int first_channel) {
  for (int i = threadIdx.x; i < channel_warps * filter_words / 4; i += Schedule::threads)
    reinterpret_cast<uint4*>(words)[i] = uint4{};
  __syncthreads();
  const Element* weight = arguments.weight + static_cast<long long>(first_channel) * terms;
  const int there = min(block_channels, problem.batch * group_channels - first_channel) * terms;
#pragma unroll 4
  for (int i = threadIdx.x; i < there; i += Schedule::threads) {
    const int own = i / terms % vector, thread = i / terms / vector, place = thread % 4;
    const int seen = i % group_channels, slot = i % terms / group_channels * group_pairs + seen / 2;
    const int lane = (2 * place + own % 2) * 4 + place, half = group_channels > 1 ? seen % 2 : own % 2;
    const int word = thread / 4 * filter_words + (slot * 32 + lane) * pairs + own / 2;
    reinterpret_cast<Element*>(words)[2 * word + half] = weight[i];
  }
  __syncthreads();
}

__device__ __forceinline__ void unpack(unsigned (&words)[pairs], const Packed<unsigned, pairs>& packed) {
#pragma unroll
  for (int pair = 0; pair < pairs; ++pair) words[pair] = packed.elements[pair];
}

// The filters of a warp, from its words.
struct Filters {
#if keep_filters
  FilterRow kept[Problem::kernel_h];
#endif
  const unsigned* words;  // of the lane

  explicit __device__ __forceinline__ Filters(const unsigned* of_warp)
      : words(of_warp + threadIdx.x % 32 * pairs) {
#if keep_filters
#  pragma unroll
    for (int r = 0; r < Problem::kernel_h; ++r) load(kept[r], r);
#endif
  }
  __device__ __forceinline__ void load(FilterRow& filters, int row) const {
#pragma unroll
    for (int slot = 0; slot < slots; ++slot)
      unpack(filters[slot],
             *reinterpret_cast<const Packed<unsigned, pairs>*>(words + (row * slots + slot) * 32 * pairs));
  }
};

// The pair of channels that a slot's terms are of, for a thread's pair of filters.
__device__ constexpr int seen_pair(int pair, int slot) {
  return pair / group_pairs * group_pairs + slot % group_pairs;
}

// Adds a row of the image, under a row of the filters, to the sums of a row of pixels.
__device__ __forceinline__ void add_row(float (&sums)[Schedule::columns / 2][pairs][4], const Row& words,
                                        const FilterRow& filters) {
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

// Adds row `i` of the `stride_h` of a step to the sums of all rows of pixels that see it.
__device__ __forceinline__ void add_line(Sums& sums, const Row& words, const Filters& filters, int i) {
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
    add_row(sums[row], words, filters.kept[r]);
#else
    FilterRow loaded;
    filters.load(loaded, r);
    add_row(sums[row], words, loaded);
#endif
  }
}

// Sums a pixel anew, by FMAs, if what tensor cores summed is not finite: of other groups' infinities and NaN
// they add products by zero.
template <class Tile>
__device__ __forceinline__ void correct(float (&sums)[vector], const Arguments& arguments,
                                        const Problem& problem, const Tile& tile, int p, int q) {
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

// Stores a row of the thread's pixels, as far as they are in the image; the first one at a place of D.
template <class Tile>
__device__ __forceinline__ void store_pixels(const Arguments& arguments, const Problem& problem,
                                             const Tile& tile, int p, long long place, const Sums& sums,
                                             const float (&biases)[vector]) {
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column) {
    if (tile.q + column >= problem.out_width) continue;
    float own[vector];
#pragma unroll
    for (int l = 0; l < vector; ++l) own[l] = sums[open_rows - 1][column / 2][l / 2][column % 2 * 2 + l % 2];
    correct(own, arguments, problem, tile, p, tile.q + column);
    store_pixel(arguments, problem, own, biases, place + column * problem.ldd);
  }
}
