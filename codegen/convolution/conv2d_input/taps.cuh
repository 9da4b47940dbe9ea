#pragma once
#include "convolution/conv2d_input/phases.cuh"
// Where the elements of a row of A are, the implicit matrix of the gradient: a row for each pixel of an
// image, and in it the filters of each tap that brings it to a pixel of the result. A problem has the phase
// of a tile.

// A term of a sum: a tap, by its row and column among those that the phase sees, and a filter.
struct Tap {
  Phase phase;
  int row, column, channel;

  __device__ __forceinline__ Tap(const Problem& problem, int term) : phase(problem.phase) {
    const int tap = term / problem.filters, taps = max(1, phase.w.count);
    channel = term - tap * problem.filters;
    row = tap / taps, column = tap - row * taps;
  }

  // Goes on by so many terms.
  __device__ __forceinline__ void advance(const Problem& problem, int terms) {
    channel += terms;
    if (channel < problem.filters) return;
    const int passed = channel / problem.filters, taps = max(1, phase.w.count);
    channel -= passed * problem.filters;
    column += passed;
    const int rows = column / taps;
    row += rows, column -= rows * taps;
  }

  __device__ __forceinline__ bool exists() const { return row < phase.h.count && phase.w.count > 0; }

  // Elements from the gradient under the first tap to that under this one.
  __device__ __forceinline__ long long offset(const Problem& problem) const {
    return channel -
           (static_cast<long long>(row) * Problem::apart_h * problem.out_width + column * Problem::apart_w) *
               problem.filters;
  }

  // Elements from the weight to those of the filter under this tap.
  __device__ __forceinline__ long long filter(const Problem& problem) const {
    return (static_cast<long long>(channel) * (Problem::kernel_h * Problem::kernel_w) +
            phase.tap(row, column)) *
           problem.n;
  }
};

// What a pixel of an image sees: the place of the gradient under the first tap, which may be outside.
struct Pixel {
  long long offset;  // elements from the gradient
  int row;
  int column;

  // Whether there is an element under a tap, rather than a zero.
  __device__ __forceinline__ bool sees(const Problem& problem, const Tap& tap) const {
    const unsigned y = row - tap.row * Problem::apart_h, x = column - tap.column * Problem::apart_w;
    return tap.exists() && y < static_cast<unsigned>(problem.out_height) &&
           x < static_cast<unsigned>(problem.out_width);
  }
};

// The pixels of a phase are numbered. One behind the last sees nothing.
__device__ __forceinline__ Pixel locate_pixel(const Problem& problem, int number) {
  const Phase phase(problem.phase);
  const PhasePixel pixel(problem, number);
  const int row = pixel.row + phase.h.nearest, column = pixel.column + phase.w.nearest;
  const long long line = static_cast<long long>(pixel.image) * problem.out_height + row;
  const long long offset = (line * problem.out_width + column) * problem.filters;
  return {offset, number < problem.m ? row : -(1 << 30), column};
}

// Tiles along k of a phase.
__device__ __forceinline__ int steps_of_phase(const Problem& problem, int number) {
  return (Phase(number).taps() * problem.filters + Schedule::block_k - 1) / Schedule::block_k;
}

// The steps of a work unit that a phase has.
__device__ __forceinline__ int steps_of(const Problem& problem, const WorkUnit& unit, int phase) {
  return max(0, min(unit.last, steps_of_phase(problem, phase)) - unit.first);
}
