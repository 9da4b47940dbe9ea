#pragma once
#include "convolution/conv2d/taps.cuh"

// A pixel of the gradient, and what taps of the filters see there.
struct SeenPixel {
  int image, row, column;

  SeenPixel() = default;
  // The pixels of all images are numbered. One behind the last sees nothing.
  __device__ __forceinline__ SeenPixel(const Problem& problem, int number) {
    const int line = number / problem.out_width;
    image = line / problem.out_height;
    row = line - image * problem.out_height, column = number - line * problem.out_width;
  }

  // Goes on by as many pixels as are ahead of another one. Adding up takes no division.
  __device__ __forceinline__ void advance(const Problem& problem, const SeenPixel& step) {
    column += step.column, row += step.row, image += step.image;
    if (column >= problem.out_width) column -= problem.out_width, ++row;
    if (row >= problem.out_height) row -= problem.out_height, ++image;
  }

  // Whether there is an element of X under a tap, rather than a zero.
  __device__ __forceinline__ bool sees(const Problem& problem, const Tap& tap) const {
    return tap.row < Problem::kernel_h && image < problem.images &&
           static_cast<unsigned>(y(tap)) < static_cast<unsigned>(problem.height) &&
           static_cast<unsigned>(x(tap)) < static_cast<unsigned>(problem.width);
  }
  // Elements from X to it.
  __device__ __forceinline__ long long offset(const Problem& problem, const Tap& tap) const {
    return image * problem.stride_x_n + y(tap) * problem.stride_x_h + x(tap) * problem.stride_x_w +
           tap.channel;
  }

 private:
  __device__ __forceinline__ int y(const Tap& tap) const {
    return row * Problem::stride_h - Problem::padding_h + tap.row * Problem::dilation_h;
  }
  __device__ __forceinline__ int x(const Tap& tap) const {
    return column * Problem::stride_w - Problem::padding_w + tap.column * Problem::dilation_w;
  }
};
