#pragma once
#include "convolution/conv2d/winograd/store_tile.cuh"
// Winograd's minimal filtering, behind the products: Aᵀ·M·A are the pixels of each tile M of products.

__device__ __forceinline__ void store_pixels(const Arguments& arguments) {
  constexpr int width = Problem::pixel_vector;
  const Problem problem(arguments);
  const int vectors = problem.n / width;
  const long long thread = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  const long long row = thread / vectors, tiles = tiles_of(problem);
  const int filter = (thread - row * vectors) * width;
  if (row >= tiles) return;

  const float* source = arguments.products + row * problem.n + filter;
  alignas(16) float products[side][side][width];
#pragma unroll
  for (int i = 0; i < side * side; ++i)
    copy_vector<width>(products[i / side][i % side], source + i * tiles * problem.n);
  alignas(16) float pixels[outputs][outputs][width];
  transform<Results>(pixels, products);

  store_tile<width>(arguments, problem, pixels, row, filter);
}
