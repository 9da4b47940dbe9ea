#pragma once
// Where the elements of a row of A are, the implicit matrix of a convolution: a row for each pixel of D, and
// in it the channels of each tap of the filter.

// A term of a sum: a tap of the filter, and a channel.
struct Tap {
  int row;
  int column;
  int channel;

  __device__ __forceinline__ Tap(const Problem& problem, int term)
      : row(term / problem.channels / Problem::kernel_w),
        column(term / problem.channels % Problem::kernel_w),
        channel(term % problem.channels) {}

  // Goes on by so many terms.
  __device__ __forceinline__ void advance(const Problem& problem, int terms) {
    channel += terms;
    if (channel < problem.channels) return;
    const int taps = channel / problem.channels;
    channel -= taps * problem.channels;
    row += (column + taps) / Problem::kernel_w;
    column = (column + taps) % Problem::kernel_w;
  }

  // Elements from the first tap of a filter to this one.
  __device__ __forceinline__ long long offset(const Problem& problem) const {
#if volumes
    return row / Problem::filter_rows * Problem::dilation_t * problem.stride_x_d +
           row % Problem::filter_rows * Problem::dilation_h * problem.stride_x_h +
           column * Problem::dilation_w * problem.stride_x_w + channel;
#else
    return row * Problem::dilation_h * problem.stride_x_h +
           column * Problem::dilation_w * problem.stride_x_w + channel;
#endif
  }
};

// What a pixel of D sees: the place of the first tap, which may be outside of the image.
struct Pixel {
  long long offset;  // elements from X
  int row;
  int column;
#if volumes
  int slice;
#endif

  // Whether there is an element of X under a tap, rather than a zero.
  __device__ __forceinline__ bool sees(const Problem& problem, const Tap& tap) const {
#if volumes
    const unsigned z = slice + tap.row / Problem::filter_rows * Problem::dilation_t;
    const unsigned y = row + tap.row % Problem::filter_rows * Problem::dilation_h;
    const unsigned x = column + tap.column * Problem::dilation_w;
    return tap.row < Problem::kernel_h && z < static_cast<unsigned>(problem.depth) &&
           y < static_cast<unsigned>(problem.height) && x < static_cast<unsigned>(problem.width);
#else
    const unsigned y = row + tap.row * Problem::dilation_h, x = column + tap.column * Problem::dilation_w;
    return tap.row < Problem::kernel_h && y < static_cast<unsigned>(problem.height) &&
           x < static_cast<unsigned>(problem.width);
#endif
  }
};

// The pixels of all images are numbered. One behind the last sees nothing.
__device__ __forceinline__ Pixel locate_pixel(const Problem& problem, int number) {
#if volumes
  const int line = number / problem.out_width, plane = line / problem.out_height,
            image = plane / problem.out_depth;
  const int slice = (plane - image * problem.out_depth) * Problem::stride_t - Problem::padding_t;
  const int row = (line - plane * problem.out_height) * Problem::stride_h - Problem::padding_h;
  const int column = (number - line * problem.out_width) * Problem::stride_w - Problem::padding_w;
  const long long offset = image * problem.stride_x_n + slice * problem.stride_x_d +
                           row * problem.stride_x_h + column * problem.stride_x_w;
  return {offset, number < problem.m ? row : -(1 << 30), column, slice};
#else
  const int line = number / problem.out_width, image = line / problem.out_height;
  const int row = (line - image * problem.out_height) * Problem::stride_h - Problem::padding_h;
  const int column = (number - line * problem.out_width) * Problem::stride_w - Problem::padding_w;
  const long long offset =
      image * problem.stride_x_n + row * problem.stride_x_h + column * problem.stride_x_w;
  return {offset, number < problem.m ? row : -(1 << 30), column};
#endif
}
