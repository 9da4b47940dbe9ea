#pragma once
#include "convolution/conv2d/store_pixel.cuh"
#include "convolution/conv2d/taps.cuh"
#include "cuda/shared_memory.cuh"
// A is stored, some pixels at a time, and multiplied: what implicit products spare.

// One thread copies one element of A: pixel by pixel, each with the terms of all groups.
__device__ __forceinline__ void conv2d_columns(const Arguments& arguments) {
  using Element = Problem::Element;
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long row = index / problem.k;
  const int pixel = row / problem.batch, group = row % problem.batch;
  if (pixel >= Problem::pixels_at_a_time) return;
  const Pixel seen = locate_pixel(problem, arguments.first_pixel + pixel);
  const Tap tap(problem, index % problem.k);
  const Element* x = arguments.x + group * problem.channels;
  static_cast<Element*>(arguments.workspace)[index] =
      seen.sees(problem, tap) ? x[seen.offset + tap.offset(problem)] : Element{};
}

// A block computes a square of D, of some of these pixels and of filters of one group, in `Number`. Each
// thread has an element.
template <typename Number>
__device__ __forceinline__ void conv2d_product(const Arguments& arguments) {
  using Element = Problem::Element;
  constexpr int side = Problem::side, pitch = side + 1;
  const Problem problem(arguments);
  const int tiles_n = (problem.n - 1) / side + 1, row = threadIdx.x / side, column = threadIdx.x % side;
  const int tile_n = blockIdx.x % tiles_n, group = blockIdx.x / tiles_n % problem.batch;
  const int pixel = blockIdx.x / tiles_n / problem.batch * side + row, filter = tile_n * side + column;
  const auto* columns = static_cast<const Element*>(arguments.workspace);
  float *a = dynamic_shared<float>(), *b = a + side * pitch;
  Number sum = 0;
  for (int k = 0; k < problem.k; k += side) {
    const int term = k + column, loaded = tile_n * side + row;
    const long long place = (static_cast<long long>(pixel) * problem.batch + group) * problem.k + term;
    const long long own = (static_cast<long long>(group) * problem.n + loaded) * problem.k + term;
    const bool there = term < problem.k;
    a[row * pitch + column] = there && pixel < Problem::pixels_at_a_time ? to_float(columns[place]) : 0.0f;
    b[row * pitch + column] = there && loaded < problem.n ? to_float(arguments.weight[own]) : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < side; ++i) sum += static_cast<Number>(a[row * pitch + i]) * b[column * pitch + i];
    __syncthreads();
  }
  const long long number = static_cast<long long>(arguments.first_pixel) + pixel;
  if (pixel >= Problem::pixels_at_a_time || number >= problem.m || filter >= problem.n) return;
  const long long of_all = static_cast<long long>(group) * problem.n + filter;
  store_pixel(arguments, problem, sum, number * problem.ldd + of_all, of_all, arguments.d);
}
