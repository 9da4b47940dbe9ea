#pragma once
#include "convolution/conv2d/winograd/store_tile.cuh"
#include "cuda/async_copy.cuh"
#include "cuda/shared_memory.cuh"
// D = activation(alpha·X∗W + bias) + beta·C by Winograd's minimal filtering: a block has some tiles of pixels
// and some filters. Of a few channels at a time, threads load tiles of the image, and transform them to
// shared memory, where the products of the channels before are multiplied meanwhile; transformed filters are
// copied there. A warp has the sums of two of the 16 places of a tile, each a product of tiles and filters.
// The sums are exchanged through shared memory, and transformed to pixels.

constexpr int places = side * side;
constexpr int warp_places = places / (Schedule::threads / 32);
constexpr int thread_m = Schedule::block_m / 4, thread_n = Schedule::block_n / 8;
constexpr int pitch_m = Schedule::block_m + 4;
// Tiles that a thread transforms, each for one channel.
constexpr int own_tiles = (Schedule::block_m * Schedule::block_k - 1) / Schedule::threads + 1;

struct Stage {
  float tiles[places][Schedule::block_k][pitch_m];
  float filters[places][Schedule::block_k][Schedule::block_n];
};
using PlaceSums = float[warp_places][thread_m][thread_n];

// Filters that are exchanged at once: 4 of each lane.
constexpr int part_n = 32;
using Exchanged = float[places][Schedule::block_m][part_n + 4];

// A tile of the image and a channel: what a thread transforms.
class TileOfImage {
 public:
  __device__ __forceinline__ void find(const Arguments& arguments, const Problem& problem, int number,
                                       long long first_tile) {
    channel_ = number % Schedule::block_k, row_ = number / Schedule::block_k;
    if (row_ >= Schedule::block_m || first_tile + row_ >= tiles_of(problem)) return;
    const ResultTile tile(problem, first_tile + row_);
    const int y = tile.p - Problem::padding_h, x = tile.q - Problem::padding_w;
    source_ = arguments.x + tile.image * problem.stride_x_n + y * problem.stride_x_h +
              x * problem.stride_x_w + channel_;
#pragma unroll
    for (int i = 0; i < places; ++i)
      inside_ |= (static_cast<unsigned>(y + i / side) < static_cast<unsigned>(problem.height) &&
                  static_cast<unsigned>(x + i % side) < static_cast<unsigned>(problem.width))
                 << i;
  }
  // Loads the elements of the next channels.
  __device__ __forceinline__ void load(const Problem& problem, int first_channel) {
    const unsigned inside = first_channel + channel_ < problem.channels ? inside_ : 0;
#pragma unroll
    for (int i = 0; i < places; ++i) {
      const float* element =
          source_ + (i / side) * problem.stride_x_h + (i % side) * problem.stride_x_w + first_channel;
      elements_[i / side][i % side] = inside >> i & 1 ? __ldg(element) : 0.0f;
    }
  }
  __device__ __forceinline__ void transform_to(Stage& stage) const {
    if (Schedule::block_m * Schedule::block_k % Schedule::threads != 0 && row_ >= Schedule::block_m) return;
    float found[side][side];
    transform<Elements>(found, elements_);
#pragma unroll
    for (int i = 0; i < places; ++i) stage.tiles[i][channel_][row_] = found[i / side][i % side];
  }

 private:
  const float* source_;
  unsigned inside_ = 0;  // a bit for each element
  int channel_, row_;
  float elements_[side][side];
};

__device__ __forceinline__ void copy_filters(Stage& stage, const Arguments& arguments, const Problem& problem,
                                             int first_channel, int first_filter) {
  constexpr int vectors = places * Schedule::block_k * Schedule::block_n / 4;
#pragma unroll
  for (int i = 0; i < vectors; i += Schedule::threads) {
    const int number = i + threadIdx.x;
    if (vectors % Schedule::threads != 0 && number >= vectors) break;
    const int filter = number % (Schedule::block_n / 4) * 4, row = number / (Schedule::block_n / 4);
    const int place = row / Schedule::block_k, channel = row % Schedule::block_k;
    const bool there = first_channel + channel < problem.channels && first_filter + filter < problem.n;
    const long long line = static_cast<long long>(place) * problem.channels + first_channel + channel;
    async_copy_guarded<16>(
        &stage.filters[place][channel][filter],
        arguments.transformed_filters + (there ? line * problem.n + first_filter + filter : 0),
        there ? 16 : 0);
  }
  async_commit();
}

__device__ __forceinline__ void multiply(PlaceSums& sums, const Stage& stage) {
  const int lane = threadIdx.x % 32, row = lane / 8 * 4, column = lane % 8 * 4;
#pragma unroll
  for (int own = 0; own < warp_places; ++own) {
    const int place = threadIdx.x / 32 * warp_places + own;
#pragma unroll
    for (int k = 0; k < Schedule::block_k; ++k) {
      alignas(16) float a[thread_m], b[thread_n];
#pragma unroll
      for (int i = 0; i < thread_m; i += 4) copy_vector<4>(a + i, &stage.tiles[place][k][row + i * 4]);
#pragma unroll
      for (int j = 0; j < thread_n; j += 4) copy_vector<4>(b + j, &stage.filters[place][k][column + j * 8]);
#pragma unroll
      for (int i = 0; i < thread_m; ++i) {
#pragma unroll
        for (int j = 0; j < thread_n; ++j) sums[own][i][j] = fmaf(a[i], b[j], sums[own][i][j]);
      }
    }
  }
}

// Transforms the sums of the block to pixels, some filters at a time.
__device__ __forceinline__ void store_tiles(const Arguments& arguments, const Problem& problem,
                                            const PlaceSums& sums, long long first_tile, int first_filter) {
  const int lane = threadIdx.x % 32, row = lane / 8 * 4, column = lane % 8 * 4;
  Exchanged& exchanged = *dynamic_shared<Exchanged>();
#pragma unroll
  for (int part = 0; part < thread_n / 4; ++part) {
    __syncthreads();
#pragma unroll
    for (int own = 0; own < warp_places; ++own) {
#pragma unroll
      for (int i = 0; i < thread_m; ++i)
        copy_vector<4>(&exchanged[threadIdx.x / 32 * warp_places + own][row + i / 4 * 16 + i % 4][column],
                       &sums[own][i][part * 4]);
    }
    __syncthreads();
    for (int number = threadIdx.x; number < Schedule::block_m * part_n / 4; number += Schedule::threads) {
      const int own_filter = number % (part_n / 4) * 4, own_tile = number / (part_n / 4);
      const int filter = first_filter + part * part_n + own_filter;
      if (first_tile + own_tile >= tiles_of(problem) || filter >= problem.n) continue;
      alignas(16) float products[side][side][4], pixels[outputs][outputs][4];
#pragma unroll
      for (int i = 0; i < places; ++i)
        copy_vector<4>(products[i / side][i % side], &exchanged[i][own_tile][own_filter]);
      transform<Results>(pixels, products);
      store_tile<4>(arguments, problem, pixels, first_tile + own_tile, filter);
    }
  }
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int filter_blocks = (problem.n - 1) / Schedule::block_n + 1;
  const long long first_tile = static_cast<long long>(blockIdx.x / filter_blocks) * Schedule::block_m;
  const int first_filter = blockIdx.x % filter_blocks * Schedule::block_n;
  Stage* stages = dynamic_shared<Stage>();

  TileOfImage tiles[own_tiles];
#pragma unroll
  for (int i = 0; i < own_tiles; ++i)
    tiles[i].find(arguments, problem, i * Schedule::threads + threadIdx.x, first_tile);
  const auto load = [&](int channel) {
#pragma unroll
    for (int i = 0; i < own_tiles; ++i) tiles[i].load(problem, channel);
  };
  const auto transform_to = [&](Stage& stage) {
#pragma unroll
    for (int i = 0; i < own_tiles; ++i) tiles[i].transform_to(stage);
  };

  PlaceSums sums = {};
  copy_filters(stages[0], arguments, problem, 0, first_filter);
  load(0);
  transform_to(stages[0]);
  async_wait<0>();
  __syncthreads();
#pragma unroll 1
  for (int channel = 0; channel < problem.channels; channel += Schedule::block_k) {
    const int next = channel + Schedule::block_k, stage = channel / Schedule::block_k % 2;
    const bool more = next < problem.channels;
    if (more) {
      copy_filters(stages[stage ^ 1], arguments, problem, next, first_filter);
      load(next);
    }
    multiply(sums, stages[stage]);
    if (more) {
      transform_to(stages[stage ^ 1]);
      async_wait<0>();
    }
    __syncthreads();
  }
  store_tiles(arguments, problem, sums, first_tile, first_filter);
}
