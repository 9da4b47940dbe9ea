#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/shared_memory.cuh"
#include "cuda/vector.cuh"
#include "epilogue/activation.cuh"
// What kernels have in common where groups have few channels, and as many filters: a thread has `vector`
// neighbouring channels, which are whole groups, of some columns of pixels.

using Element = Problem::Element;
constexpr int vector = Schedule::vector;
constexpr int block_channels = Schedule::channel_threads * vector;
constexpr int group_channels = Problem::group_channels;
constexpr int terms = Problem::kernel_h * Problem::kernel_w * group_channels;
// Columns that the pixels of a thread see.
constexpr int window_w =
    (Schedule::columns - 1) * Problem::stride_w + (Problem::kernel_w - 1) * Problem::dilation_w + 1;

// The tap under which a pixel, counted from the thread's first one, sees a place of the window; -1 if none.
__device__ constexpr int tap_of(int place, int pixel, int stride, int dilation, int kernel) {
  const int distance = place - pixel * stride;
  return distance >= 0 && distance % dilation == 0 && distance / dilation < kernel ? distance / dilation : -1;
}

// What the thread's filter `l` sees of channel `i` of its group: a number of the thread's channels.
__device__ constexpr int seen_channel(int l, int i) { return l / group_channels * group_channels + i; }

// The rows×columns pixels of a thread, in blocks of channels that are side by side.
struct ThreadTile {
  int own_channel;  // in those of the block
  int channel;
  int image;
  int p, q;  // the first pixel

  explicit __device__ __forceinline__ ThreadTile(const Problem& problem) {
    constexpr int tiles_a_block = Schedule::threads / Schedule::channel_threads;
    const int tiles_h = (problem.out_height - 1) / Schedule::rows + 1;
    const int tiles_w = (problem.out_width - 1) / Schedule::columns + 1;
    const int channel_blocks = (problem.batch * group_channels - 1) / block_channels + 1;
    own_channel = threadIdx.x % Schedule::channel_threads * vector;
    channel = blockIdx.x % channel_blocks * block_channels + own_channel;
    const long long tile = static_cast<long long>(blockIdx.x / channel_blocks) * tiles_a_block +
                           threadIdx.x / Schedule::channel_threads;
    image = tile / tiles_w / tiles_h;
    p = tile / tiles_w % tiles_h * Schedule::rows, q = tile % tiles_w * Schedule::columns;
  }
  __device__ __forceinline__ bool exists(const Problem& problem) const {
    return channel < problem.batch * group_channels && image < problem.images;
  }
};

// The elements of a row of an image that the thread's pixels see.
struct Line {
  Packed<Element, vector> elements[window_w];

  __device__ __forceinline__ void load(const Problem& problem, const Element* source, int row, int column) {
    const bool inside = static_cast<unsigned>(row) < static_cast<unsigned>(problem.height);
    const Element* place = source + row * problem.stride_x_h + column * problem.stride_x_w;
#pragma unroll
    for (int j = 0; j < window_w; ++j, place += problem.stride_x_w) {
      const bool there = inside && static_cast<unsigned>(column + j) < static_cast<unsigned>(problem.width);
      elements[j] = load_global_if<vector>(there, place);
    }
  }
};

// Copies the filters of the block's channels to shared memory: term by term, filters side by side.
__device__ __forceinline__ void load_filters(const Arguments& arguments, const Problem& problem,
                                             float* filters, int first_channel) {
  const Element* weight = arguments.weight + static_cast<long long>(first_channel) * terms;
  const int left = min(block_channels, problem.batch * group_channels - first_channel) * terms;
  for (int i = threadIdx.x; i < block_channels * terms; i += Schedule::threads)
    filters[i % terms * block_channels + i / terms] = i < left ? to_float(weight[i]) : 0.0f;
  __syncthreads();
}

// The factors of the thread's filters for a term.
__device__ __forceinline__ void load_factors(float (&factors)[vector], const float* filters, int term) {
  constexpr int width = vector < 4 ? vector : 4;
#pragma unroll
  for (int i = 0; i < vector; i += width)
    copy_vector<width>(factors + i, filters + term * block_channels + i);
}

// The biases of the thread's channels.
__device__ __forceinline__ void load_biases(float (&biases)[vector], const Arguments& arguments,
                                            int channel) {
#if bias
#  pragma unroll
  for (int l = 0; l < vector; ++l) biases[l] = to_float(arguments.bias[channel + l]);
#endif
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

// Stores a row of the thread's pixels, as far as they are in the image.
__device__ __forceinline__ void store_row(const Arguments& arguments, const Problem& problem,
                                          const ThreadTile& tile, int row,
                                          const float (&sums)[Schedule::columns][vector],
                                          const float (&biases)[vector]) {
  if (row >= problem.out_height) return;
  const long long line = static_cast<long long>(tile.image) * problem.out_height + row;
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column) {
    if (tile.q + column >= problem.out_width) continue;
    const long long place = (line * problem.out_width + tile.q + column) * problem.ldd + tile.channel;
    store_pixel(arguments, problem, sums[column], biases, place);
  }
}
