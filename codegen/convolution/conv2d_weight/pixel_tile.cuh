#pragma once
// Pixels of the gradient side by side, which a thread adds to its sums at once.
struct PixelTile {
  unsigned image;  // the place of the first pixel
  int p, q;
  long long first;  // its number

  __device__ __forceinline__ PixelTile(const Problem& problem, unsigned tile) {
    const unsigned along = (problem.out_width - 1) / Schedule::columns + 1, line = tile / along;
    image = line / problem.out_height;
    p = line - image * problem.out_height, q = (tile - line * along) * Schedule::columns;
    first = static_cast<long long>(line) * problem.out_width + q;
  }
  // Of all images.
  static __device__ __forceinline__ unsigned count(const Problem& problem) {
    return problem.images * problem.out_height * ((problem.out_width - 1) / Schedule::columns + 1);
  }
};
