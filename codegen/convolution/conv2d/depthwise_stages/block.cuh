#pragma once
#include "convolution/conv2d/depthwise_mma/diagonal.cuh"
#include "cuda/opaque.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/tile_memory.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, of groups of few channels, by tensor cores. Pixels of a block
// are side by side. Rows of the image that they see come by tensor copies, a stage each, which one thread
// issues; what lies outside of an image is copied as zeros.

constexpr int column_warps = Schedule::threads / 32 / channel_warps;
constexpr int block_columns = column_warps * 8 * Schedule::columns;
constexpr int pixel_bytes = block_channels * sizeof(Element);
constexpr int row_bytes =
    ((block_columns - 1) * Problem::stride_w + (Problem::kernel_w - 1) * Problem::dilation_w + 1) *
    pixel_bytes;
constexpr int stage_bytes = (row_bytes + 127) / 128 * 128;
constexpr int rows_read = (Schedule::rows + open_rows - 1) * Problem::stride_h;

// Shared memory of the block, behind the stages.
struct Shared {
  unsigned filters[channel_warps][filter_words];
  Barrier full[Schedule::stages], empty[Schedule::stages];
};
__device__ __forceinline__ unsigned char* stage_memory(int stage) {
  return tile_memory<unsigned char>() + stage * stage_bytes;
}
__device__ __forceinline__ Shared& shared() {
  return *reinterpret_cast<Shared*>(stage_memory(Schedule::stages));
}

// The rows×columns pixels of a thread, in a block of channels and columns that are side by side.
struct WarpTile {
  int channel_warp, own_column;
  int first_channel, first_column;  // of the block
  int image, p;
  int channel, q;  // the first of the thread

  explicit __device__ __forceinline__ WarpTile(const Problem& problem) {
    const unsigned channel_blocks = (problem.batch * group_channels - 1) / block_channels + 1;
    const unsigned column_blocks = (problem.out_width - 1) / block_columns + 1;
    const unsigned row_blocks = (problem.out_height - 1) / Schedule::rows + 1;
    const unsigned columns = blockIdx.x / channel_blocks, rows = columns / column_blocks;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    channel_warp = warp % channel_warps;
    own_column = (warp / channel_warps * 8 + lane / 4) * Schedule::columns;
    first_channel = blockIdx.x % channel_blocks * block_channels;
    first_column = columns % column_blocks * block_columns;
    image = rows / row_blocks, p = rows % row_blocks * Schedule::rows;
    channel = first_channel + (channel_warp * 4 + lane % 4) * vector, q = first_column + own_column;
  }
};

// Loads what the thread's pixels see of a row. ptxas does not know the words for what was loaded, whose parts
// it would copy to fragments anew for each product.
__device__ __forceinline__ void load_row(Row& words, const WarpTile& tile, int stage) {
  const unsigned char* first = stage_memory(stage) + tile.own_column * Problem::stride_w * pixel_bytes +
                               (tile.channel - tile.first_channel) * sizeof(Element);
  const unsigned zero = kept_constant(0);
#pragma unroll
  for (int j = 0; j < window_w; ++j) {
    unpack(words[j], *reinterpret_cast<const Packed<unsigned, pairs>*>(first + j * pixel_bytes));
#pragma unroll
    for (int pair = 0; pair < pairs; ++pair) words[j][pair] += zero;
  }
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const WarpTile tile(problem);
  const auto copy_row = [&](int row, int stage) {
    const int at[] = {tile.image, tile.p * Problem::stride_h - Problem::padding_h + row,
                      tile.first_column * Problem::stride_w - Problem::padding_w, tile.first_channel};
    shared().full[stage].arrive_and_expect(row_bytes);
    tensor_copy(stage_memory(stage), arguments.map_x, at, shared().full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Schedule::stages; ++stage) {
      shared().full[stage].init(1);
      shared().empty[stage].init(Schedule::threads / 32);
    }
    proxy_fence();
    for (int stage = 0; stage < Schedule::stages && stage < rows_read; ++stage) copy_row(stage, stage);
  }
  load_filters(shared().filters[0], arguments, problem, tile.first_channel);
  float biases[vector] = {};
  const bool exists = tile.channel < problem.batch * group_channels;  // all lanes take part in products
  if (exists) load_biases(biases, arguments, tile.channel);
  const long long row_of_d = problem.out_width * problem.ldd;
  long long place = (static_cast<long long>(tile.image) * problem.out_height + tile.p) * row_of_d +
                    tile.q * problem.ldd + tile.channel;

  const Filters filters(shared().filters[tile.channel_warp]);
  Sums sums = {};
  int stage = 0;
  unsigned parity = 0;
#pragma unroll open_rows
  for (int step = 0; step < Schedule::rows + open_rows - 1; ++step) {
#pragma unroll
    for (int i = 0; i < Problem::stride_h; ++i) {
      const int next = step * Problem::stride_h + i - 1 + Schedule::stages;
      if (threadIdx.x == 0 && next >= Schedule::stages && next < rows_read) {  // where the row before was
        const int before = (stage > 0 ? stage : Schedule::stages) - 1;
        shared().empty[before].wait(stage > 0 ? parity : parity ^ 1);
        copy_row(next, before);
      }
      shared().full[stage].wait(parity);
      Row words;
      load_row(words, tile, stage);
      __syncwarp();
      if (threadIdx.x % 32 == 0) shared().empty[stage].arrive();
      if (++stage == Schedule::stages) stage = 0, parity ^= 1;
      add_line(sums, words, filters, i);
    }
    if (step < open_rows - 1) continue;
    const int p = tile.p + step - (open_rows - 1);
    if (p < problem.out_height && exists) store_pixels(arguments, problem, tile, p, place, sums, biases);
    place += row_of_d;
  }
}
