#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/numbers.cuh"
#include "cuda/products.cuh"
#include "cuda/shared_matrices.cuh"
#include "cuda/shared_memory.cuh"
// D = alpha·(the gradient by images of few channels). Of a tile of an image, each pixel of the gradient that
// it sees is loaded once, and multiplied by all taps and channels of some rows of the filters. An element of
// the image is the sum of the products under the taps that bring it to a pixel.

using Element = Problem::Element;

constexpr int channels = Problem::image_channels;
constexpr int vector = 16 / sizeof(Element);
constexpr int row_vectors = Problem::row_elements / vector - 1;  // but for what is spared
constexpr int k_steps = row_vectors / 2;
constexpr int tap_columns = Problem::kernel_w * channels;  // of a row of the filters
constexpr int passes = (Problem::kernel_h - 1) / Schedule::filter_rows + 1;
constexpr int products_n = Problem::pass_columns / 8;
constexpr int weight_rows = passes * Problem::pass_columns + 8;  // of which the last are zeros
constexpr int window_w =
    (Schedule::columns - 1 + (Problem::kernel_w - 1) * Problem::dilation_w) / Problem::stride_w + 1;
constexpr int tile_elements = Schedule::rows * Schedule::columns * channels;
constexpr int elements = (tile_elements - 1) / Schedule::threads + 1;  // of a thread

__device__ __forceinline__ Element* gradients() { return dynamic_shared<Element>(); }
__device__ __forceinline__ Element* filters() {
  return gradients() + Problem::seen_pixels * Problem::row_elements;
}
__device__ __forceinline__ float* products() {
  return reinterpret_cast<float*>(filters() + weight_rows * Problem::row_elements);
}

// The first row, or column, of the gradient that a tile sees which begins at `first`.
__device__ __forceinline__ int first_seen(int first, int stride, int padding, int reach) {
  const int lowest = first + padding - reach;
  return lowest > 0 ? (lowest + stride - 1) / stride : -(-lowest / stride);
}

// Copies the filters to shared memory, a row for each tap and channel. What is behind the last one, and the
// terms behind the last filter, are zeros; what fills up a pass is multiplied, and never added up.
__device__ __forceinline__ void load_filters(const Arguments& arguments) {
  constexpr int terms = row_vectors * vector, all = Problem::kernel_h * tap_columns;
#pragma unroll 4
  for (int i = threadIdx.x; i < weight_rows * terms; i += Schedule::threads) {
    const int row = i % weight_rows, k = i / weight_rows;
    const int pass = row / Problem::pass_columns, column = row % Problem::pass_columns;
    const int place = pass * (Schedule::filter_rows * tap_columns) + column;
    const bool there = place < all && k < Problem::image_filters;
    filters()[row * Problem::row_elements + k] = there ? arguments.weight[k * all + place] : Element{};
  }
}

// Begins to copy the pixels of the gradient from row `p` and column `q` on; those outside of it are zeros.
__device__ __forceinline__ void load_gradients(const Arguments& arguments, const Problem& problem, int image,
                                               int p, int q) {
  for (int i = threadIdx.x; i < Problem::seen_pixels * row_vectors; i += Schedule::threads) {
    const int pixel = i / row_vectors, k = i % row_vectors * vector;
    const int row = p + pixel / window_w, column = q + pixel % window_w;
    const bool there = static_cast<unsigned>(row) < static_cast<unsigned>(problem.out_height) &&
                       static_cast<unsigned>(column) < static_cast<unsigned>(problem.out_width) &&
                       k < Problem::image_filters;
    const long long line = static_cast<long long>(image) * problem.out_height + row;
    async_copy_guarded<16>(gradients() + pixel * Problem::row_elements + k,
                           arguments.grad + (line * problem.out_width + column) * Problem::image_filters + k,
                           there ? 16 : 0);
  }
}

// Leaves the products of all pixels by the taps of a pass in shared memory: a warp has 32 pixels at a time.
__device__ __forceinline__ void multiply(int pass) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int first = warp * 32; first < Problem::seen_pixels; first += Schedule::threads) {
    float sums[2][products_n][4] = {};
#pragma unroll
    for (int step = 0; step < k_steps; ++step) {
      const int k = step * 16 + lane / 16 * 8;
      unsigned a[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        load_matrices<false>(a[i], gradients() + (first + 16 * i + lane % 16) * Problem::row_elements + k);
#pragma unroll
      for (int j = 0; j < products_n; j += 2) {
        unsigned b[4];
        const int row = pass * Problem::pass_columns + 8 * j + lane % 16;
        load_matrices<false>(b, filters() + row * Problem::row_elements + k);
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          const unsigned columns[2] = {b[l], b[l + 2]};
          if (j + l < products_n) {
            add_product_anywhere<Element>(sums[0][j + l], a[0], columns);
            add_product_anywhere<Element>(sums[1][j + l], a[1], columns);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float* target = products() + (first + 8 * i + lane / 4) * Problem::sum_pitch + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < products_n; ++j)
        *reinterpret_cast<float2*>(target + 8 * j) =
            make_float2(sums[i / 2][j][i % 2 * 2], sums[i / 2][j][i % 2 * 2 + 1]);
    }
  }
}

// Adds the products of a pass to the elements of the tile from row `y` and column `x` on, which sees the
// gradient from `p` and `q` on.
__device__ __forceinline__ void add_up(float (&sums)[elements], int pass, int y, int x, int p, int q) {
#pragma unroll
  for (int i = 0; i < elements; ++i) {
    const int element = threadIdx.x + i * Schedule::threads, pixel = element / channels;
    if (tile_elements % Schedule::threads != 0 && element >= tile_elements) continue;
    const int down = y + pixel / Schedule::columns + Problem::padding_h;
    const int along = x + pixel % Schedule::columns + Problem::padding_w;
    int first = 0;  // the first tap of a row that brings the element to a pixel
    while (first < Problem::every_w && (along - first * Problem::dilation_w) % Problem::stride_w != 0)
      ++first;
    if (first == Problem::every_w) continue;
    const int column = (along - first * Problem::dilation_w) / Problem::stride_w - q;
    const float* seen =
        products() + column * Problem::sum_pitch + first * channels + element - pixel * channels;
#pragma unroll
    for (int row = 0; row < Schedule::filter_rows; ++row) {
      const int tap = pass * Schedule::filter_rows + row, above = down - tap * Problem::dilation_h;
      if (tap >= Problem::kernel_h || above % Problem::stride_h != 0) continue;
      const float* line =
          seen + (above / Problem::stride_h - p) * window_w * Problem::sum_pitch + row * tap_columns;
#pragma unroll
      for (int j = 0; j * Problem::every_w < Problem::kernel_w; ++j) {
        if (first + j * Problem::every_w < Problem::kernel_w)
          sums[i] += line[j * (Problem::every_w * channels - Problem::apart_w * Problem::sum_pitch)];
      }
    }
  }
}

__device__ __forceinline__ void conv2d_input_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int across = (problem.width - 1) / Schedule::columns + 1;
  const int tiles = ((problem.height - 1) / Schedule::rows + 1) * across;  // of an image
  const bool nothing = arguments.alpha == 0.0f;                            // then neither operand is read
  if (!nothing) load_filters(arguments);
#pragma unroll 1
  for (int i = 0; i < Schedule::tiles; ++i) {
    const long long index = static_cast<long long>(blockIdx.x) * Schedule::tiles + i;
    const int image = index / tiles, tile = index - static_cast<long long>(image) * tiles;
    if (image >= problem.images) break;
    const int y = tile / across * Schedule::rows, x = tile % across * Schedule::columns;
    float sums[elements] = {};
    if (!nothing) {
      constexpr int reach_h = (Problem::kernel_h - 1) * Problem::dilation_h;
      constexpr int reach_w = (Problem::kernel_w - 1) * Problem::dilation_w;
      const int p = first_seen(y, Problem::stride_h, Problem::padding_h, reach_h);
      const int q = first_seen(x, Problem::stride_w, Problem::padding_w, reach_w);
      load_gradients(arguments, problem, image, p, q);
      async_commit();
      async_wait<0>();
      __syncthreads();
#pragma unroll 1
      for (int pass = 0; pass < passes; ++pass) {
        multiply(pass);
        __syncthreads();
        add_up(sums, pass, y, x, p, q);
        __syncthreads();  // before the next products, and the next tile's gradients
      }
    }
#pragma unroll
    for (int j = 0; j < elements; ++j) {
      const int element = threadIdx.x + j * Schedule::threads, pixel = element / channels;
      const int row = y + pixel / Schedule::columns, column = x + pixel % Schedule::columns;
      if (element >= tile_elements || row >= problem.height || column >= problem.width) continue;
      const long long place =
          image * problem.stride_x_n + row * problem.stride_x_h + column * problem.stride_x_w;
      arguments.d[place + element - pixel * channels] = from_float<Element>(arguments.alpha * sums[j]);
    }
  }
}
