#pragma once
// Rows and columns of images fall into phases, every stride-th one, which see different taps of a filter. The
// problem's matrices are the phases, those with the most taps first.

// What the rows, or columns, of a phase see: `count` taps, from `first` on every so many ones. Row t of the
// phase sees row t + nearest of the gradient under the first, and so many before that under each one that
// follows.
struct PhaseSide {
  int phase, first, count, nearest;

  __device__ __forceinline__ PhaseSide(int number, int stride, int padding, int dilation, int kernel,
                                       int every)
      : phase(number), first(0), count(0), nearest(0) {
    while (first < every && (phase + padding - first * dilation) % stride != 0) ++first;
    if (first >= kernel || first == every) return;
    count = (kernel - 1 - first) / every + 1;
    nearest = (phase + padding - first * dilation) / stride;
  }
};

struct Phase {
  PhaseSide h, w;

  explicit __device__ __forceinline__ Phase(int number)
      : h((number / Problem::stride_w + Problem::fullest_h) % Problem::stride_h, Problem::stride_h,
          Problem::padding_h, Problem::dilation_h, Problem::kernel_h, Problem::every_h),
        w((number + Problem::fullest_w) % Problem::stride_w, Problem::stride_w, Problem::padding_w,
          Problem::dilation_w, Problem::kernel_w, Problem::every_w) {}

  __device__ __forceinline__ int taps() const { return h.count * w.count; }
  // The number of a tap in a filter, by its row and column among those that are seen.
  __device__ __forceinline__ int tap(int row, int column) const {
    return (h.first + row * Problem::every_h) * Problem::kernel_w + w.first + column * Problem::every_w;
  }
};

// A row of a phase's product: a pixel of an image.
struct PhasePixel {
  int image, row, column;  // of those of the phase

  __device__ __forceinline__ PhasePixel(const Problem& problem, int number) {
    const int line = number / problem.phase_width;
    image = line / problem.phase_height;
    row = line - image * problem.phase_height, column = number - line * problem.phase_width;
  }
};

// Elements from D to a row of the product; -1 where there is none.
__device__ __forceinline__ long long place_of_row(const Problem& problem, int number, int m) {
#if phased
  const Phase phase(number);
  const PhasePixel pixel(problem, m);
  const int y = pixel.row * Problem::stride_h + phase.h.phase;
  const int x = pixel.column * Problem::stride_w + phase.w.phase;
  if (m >= problem.m || y >= problem.height || x >= problem.width) return -1;
  return pixel.image * problem.stride_x_n + y * problem.stride_x_h + x * problem.stride_x_w;
#else
  return m < problem.m ? m * problem.ldd : -1;
#endif
}
