#pragma once
#include "convolution/conv2d/grouped/window.cuh"
#include "cuda/shared_memory.cuh"
#include "epilogue/activation.cuh"
// D = activation(alpha·X∗W + bias) + beta·C, of groups of few channels and few filters. A thread computes
// all filters of neighbouring groups for some pixels side by side. Filters are in shared memory, term by
// term, and a thread reads those of a term once for all of its pixels.

constexpr int filters = Schedule::groups * group_filters;
constexpr int block_groups = Schedule::group_threads * Schedule::groups;
constexpr int block_filters = block_groups * group_filters;
// From a term to the next in shared memory: threads that copy filters store terms side by side, which
// multiples of 32 would put in one bank.
constexpr int term_stride = block_filters + 4;
constexpr int terms = Problem::kernel_h * Problem::kernel_w * group_channels;
using Sums = float[Schedule::columns][filters];

// The columns×1 pixels of a thread.
struct ThreadTile {
  int own_group;  // in those of the block
  int group;
  int image;
  int p, q;  // the first pixel

  explicit __device__ __forceinline__ ThreadTile(const Problem& problem) {
    constexpr int tiles_a_block = Schedule::threads / Schedule::group_threads;
    const int tiles_w = (problem.out_width - 1) / Schedule::columns + 1;
    const int group_blocks = (problem.batch - 1) / block_groups + 1;
    own_group = threadIdx.x % Schedule::group_threads * Schedule::groups;
    group = blockIdx.x % group_blocks * block_groups + own_group;
    const long long tile = static_cast<long long>(blockIdx.x / group_blocks) * tiles_a_block +
                           threadIdx.x / Schedule::group_threads;
    image = tile / tiles_w / problem.out_height;
    p = tile / tiles_w % problem.out_height, q = tile % tiles_w * Schedule::columns;
  }
  __device__ __forceinline__ bool exists(const Problem& problem) const {
    return group < problem.batch && image < problem.images;
  }
};

// Copies the filters of the block's groups to shared memory: term by term, filters side by side.
__device__ __forceinline__ void load_filters(const Arguments& arguments, const Problem& problem,
                                             float* factors, int first_group) {
  const Element* weight = arguments.weight + static_cast<long long>(first_group) * group_filters * terms;
  const int left = min(block_groups, problem.batch - first_group) * group_filters * terms;
#pragma unroll 8
  for (int i = threadIdx.x; i < block_filters * terms; i += Schedule::threads)
    factors[i % terms * term_stride + i / terms] = i < left ? to_float(weight[i]) : 0.0f;
  __syncthreads();
}

// Adds what the pixels see under a row of the filters, whose factors of the thread's groups are at `row`.
__device__ __forceinline__ void add_row(Sums& sums, const float (&numbers)[window_w][channels],
                                        const float* row) {
  constexpr int width = filters % 4 == 0 ? 4 : filters % 2 == 0 ? 2 : 1;
#pragma unroll
  for (int s = 0; s < Problem::kernel_w; ++s)
#pragma unroll
    for (int i = 0; i < group_channels; ++i, row += term_stride) {
      float factors[filters];
#pragma unroll
      for (int l = 0; l < filters; l += width) copy_vector<width>(factors + l, row + l);
#pragma unroll
      for (int column = 0; column < Schedule::columns; ++column) {
        const auto& seen = numbers[column * Problem::stride_w + s * Problem::dilation_w];
#pragma unroll
        for (int l = 0; l < filters; ++l)
          sums[column][l] = fmaf(seen[l / group_filters * group_channels + i], factors[l], sums[column][l]);
      }
    }
}

// Stores the thread's filters of a pixel, the first of which is at `place` of D.
__device__ __forceinline__ void store_pixel(const Arguments& arguments, const Problem& problem,
                                            const float (&sums)[filters], const float (&biases)[filters],
                                            long long place) {
  constexpr int width = Problem::vector_d;
#pragma unroll
  for (int first = 0; first < filters; first += width) {
    Packed<Element, width> before = {}, result;
#if beta_nonzero
    before.bits =
        *reinterpret_cast<const typename Packed<Element, width>::Bits*>(arguments.c + place + first);
#endif
    float numbers[width];
#pragma unroll
    for (int l = 0; l < width; ++l)
      numbers[l] =
          finished(arguments, problem, sums[first + l], biases[first + l], to_float(before.elements[l]));
    from_floats(result.elements, numbers);
    store_global<false>(arguments.d + place + first, result);
  }
}

__device__ __forceinline__ void conv2d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const ThreadTile tile(problem);
  float* factors = dynamic_shared<float>();
  load_filters(arguments, problem, factors, tile.group - tile.own_group);
  if (!tile.exists(problem)) return;
  const int y = tile.p * Problem::stride_h - Problem::padding_h;
  const int x = tile.q * Problem::stride_w - Problem::padding_w;
  const Element* source = arguments.x + tile.image * problem.stride_x_n + tile.group * group_channels;
  factors += tile.own_group * group_filters;

  Sums sums = {};
#pragma unroll 1
  for (int r = 0; r < Problem::kernel_h; ++r) {
    float numbers[window_w][channels];
    load_line(numbers, problem, source, y + r * Problem::dilation_h, x);
    add_row(sums, numbers, factors + r * Problem::kernel_w * group_channels * term_stride);
  }

  const int first_filter = tile.group * group_filters;
  float biases[filters] = {};
#if bias
#  pragma unroll
  for (int l = 0; l < filters; ++l) biases[l] = to_float(arguments.bias[first_filter + l]);
#endif
  const long long line = static_cast<long long>(tile.image) * problem.out_height + tile.p;
#pragma unroll
  for (int column = 0; column < Schedule::columns; ++column)
    if (tile.q + column < problem.out_width)
      store_pixel(arguments, problem, sums[column], biases,
                  (line * problem.out_width + tile.q + column) * problem.ldd + first_filter);
}
