#pragma once
#include "cuda/packed.cuh"
// The launch ahead: images become such that the pixels under a row of a filter are neighbours
// in memory, a multiple of 16 bytes from those of the next pixel of D. So each pixel has `pixel_channels`, of
// which the last are 0, and each row zeros at both ends. Rows of filters get the same channels.

using Element = Problem::Element;
constexpr int join_threads = 256;

// Elements of a row of the copies of images, and of filters.
__device__ __forceinline__ int joined_pixels(const Problem& problem) {
  const int seen = (problem.out_width - 1) * Problem::image_stride_w + Problem::image_kernel_w;
  return (seen + Problem::pixel_unit - 1) / Problem::pixel_unit * Problem::pixel_unit;
}

__device__ __forceinline__ void join_images(const Arguments& arguments, const Problem& problem, Element* copy,
                                            long long thread, long long step) {
  constexpr int units =
      (Problem::pixel_channels * static_cast<int>(sizeof(Element)) + 15) / 16;  // of a pixel
  constexpr int channels = Problem::pixel_channels / units;
  const int columns = joined_pixels(problem);
  const long long pixels = static_cast<long long>(problem.images) * problem.height * columns;
  for (long long i = thread; i < pixels * units; i += step) {
    const long long line = i / units / columns;
    const int first = i % units * channels;
    const int image = line / problem.height, column = i / units - line * columns - Problem::image_padding_w;
    const bool inside = static_cast<unsigned>(column) < static_cast<unsigned>(problem.width);
    const Element* pixel = arguments.x + image * problem.stride_x_n +
                           (line - static_cast<long long>(image) * problem.height) * problem.stride_x_h +
                           column * problem.stride_x_w + first;
    Packed<Element, channels> joined = {};
#pragma unroll
    for (int channel = 0; channel < channels; ++channel)
      if (inside && first + channel < Problem::image_channels) joined.elements[channel] = pixel[channel];
    store_global<false>(copy + i * channels, joined);
  }
}

__device__ __forceinline__ void join_filters(const Arguments& arguments, const Problem& problem,
                                             Element* copy, long long thread, long long step) {
  constexpr int row = Problem::joined_row, taps = Problem::image_kernel_w;
  const long long elements = static_cast<long long>(problem.n) * Problem::kernel_h * row;
  for (long long i = thread; i < elements; i += step) {
    const long long line = i / row;
    const int tap = i % row / Problem::pixel_channels, channel = i % Problem::pixel_channels;
    const bool inside = tap < taps && channel < Problem::image_channels;
    copy[i] = inside ? arguments.weight[(line * taps + tap) * Problem::image_channels + channel] : Element{};
  }
}

__device__ __forceinline__ void join_rows(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long thread = blockIdx.x * static_cast<long long>(join_threads) + threadIdx.x;
  const long long step = gridDim.x * static_cast<long long>(join_threads);
  Element* images = static_cast<Element*>(arguments.copies);
  const long long pixels = static_cast<long long>(problem.images) * problem.height * joined_pixels(problem);
  join_images(arguments, problem, images, thread, step);
  join_filters(arguments, problem, images + pixels * Problem::pixel_channels, thread, step);
}
