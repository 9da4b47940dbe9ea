#pragma once
#include "cuda/vector.cuh"
// Winograd's minimal filtering, ahead of the products: V = Bᵀ·d·B of each tile d of the images, and U =
// G·g·Gᵀ of each filter g. Tiles overlap. Of V there are (side², tiles, channels) elements, of U (side²,
// channels, filters): operands of a product for each place of a tile.

constexpr int vector = Problem::transform_vector;
constexpr int side = Elements::rows, outputs = Results::rows;

// Sets `to` to matrix·from·matrixᵀ. Factors are known when the source is compiled: 0 and 1 cost no product.
template <class Matrix>
__device__ __forceinline__ void transform(float (&to)[Matrix::rows][Matrix::rows],
                                          const float (&from)[Matrix::columns][Matrix::columns]) {
  float half[Matrix::rows][Matrix::columns];
#pragma unroll
  for (int i = 0; i < Matrix::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Matrix::columns; ++j) {
      half[i][j] = 0.0f;
#pragma unroll
      for (int k = 0; k < Matrix::columns; ++k)
        if (Matrix::at(i, k) != 0.0f) half[i][j] = fmaf(Matrix::at(i, k), from[k][j], half[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < Matrix::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Matrix::rows; ++j) {
      to[i][j] = 0.0f;
#pragma unroll
      for (int k = 0; k < Matrix::columns; ++k)
        if (Matrix::at(j, k) != 0.0f) to[i][j] = fmaf(Matrix::at(j, k), half[i][k], to[i][j]);
    }
  }
}

// The same of each lane of vectors.
template <class Matrix, int lanes>
__device__ __forceinline__ void transform(float (&to)[Matrix::rows][Matrix::rows][lanes],
                                          const float (&from)[Matrix::columns][Matrix::columns][lanes]) {
#pragma unroll
  for (int l = 0; l < lanes; ++l) {
    float own[Matrix::columns][Matrix::columns], found[Matrix::rows][Matrix::rows];
#pragma unroll
    for (int i = 0; i < Matrix::columns * Matrix::columns; ++i)
      own[i / Matrix::columns][i % Matrix::columns] = from[i / Matrix::columns][i % Matrix::columns][l];
    transform<Matrix>(found, own);
#pragma unroll
    for (int i = 0; i < Matrix::rows * Matrix::rows; ++i)
      to[i / Matrix::rows][i % Matrix::rows][l] = found[i / Matrix::rows][i % Matrix::rows];
  }
}

// A tile of the result, from its number.
struct ResultTile {
  int image;
  int p, q;  // its first pixel

  __device__ __forceinline__ ResultTile(const Problem& problem, long long number) {
    const int down = (problem.out_height - 1) / outputs + 1, along = (problem.out_width - 1) / outputs + 1;
    const long long line = number / along;
    image = line / down;
    p = (line - static_cast<long long>(image) * down) * outputs, q = (number - line * along) * outputs;
  }
};
__device__ __forceinline__ long long tiles_of(const Problem& problem) {
  return static_cast<long long>(problem.images) * ((problem.out_height - 1) / outputs + 1) *
         ((problem.out_width - 1) / outputs + 1);
}

__device__ __forceinline__ void transform_tile(const Arguments& arguments, const Problem& problem,
                                               long long number, long long tiles, int channel) {
  const ResultTile tile(problem, number);
  const int y = tile.p - Problem::padding_h, x = tile.q - Problem::padding_w;
  const float* image = arguments.x + tile.image * problem.stride_x_n + channel;
  alignas(16) float elements[side][side][vector] = {};
#pragma unroll
  for (int i = 0; i < side; ++i) {
    const bool inside = static_cast<unsigned>(y + i) < static_cast<unsigned>(problem.height);
#pragma unroll
    for (int j = 0; j < side; ++j) {
      if (inside && static_cast<unsigned>(x + j) < static_cast<unsigned>(problem.width))
        load_constant_vector<vector>(elements[i][j],
                                     image + (y + i) * problem.stride_x_h + (x + j) * problem.stride_x_w);
    }
  }
  alignas(16) float found[side][side][vector];
  transform<Elements>(found, elements);
  float* target = arguments.transformed_tiles + number * problem.channels + channel;
#pragma unroll
  for (int i = 0; i < side * side; ++i)
    copy_vector<vector>(target + i * tiles * problem.channels, found[i / side][i % side]);
}

__device__ __forceinline__ void transform_filter(const Arguments& arguments, const Problem& problem,
                                                 int filter, int channel) {
  const float* weight =
      arguments.weight +
      static_cast<long long>(filter) * Problem::kernel_h * Problem::kernel_w * problem.channels + channel;
  alignas(16) float taps[Problem::kernel_h][Problem::kernel_w][vector];
#pragma unroll
  for (int i = 0; i < Problem::kernel_h * Problem::kernel_w; ++i)
    load_constant_vector<vector>(taps[i / Problem::kernel_w][i % Problem::kernel_w],
                                 weight + i * static_cast<long long>(problem.channels));
  float found[side][side][vector];
  transform<Filters>(found, taps);
#pragma unroll
  for (int i = 0; i < side * side; ++i) {
#pragma unroll
    for (int l = 0; l < vector; ++l) {
      const long long row = static_cast<long long>(i) * problem.channels + channel + l;
      arguments.transformed_filters[row * problem.n + filter] = found[i / side][i % side][l];
    }
  }
}

__device__ __forceinline__ void transform_operands(const Arguments& arguments) {
  const Problem problem(arguments);
  const int vectors = problem.channels / vector;
  const long long thread = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  const long long row = thread / vectors, tiles = tiles_of(problem);
  if (row < tiles) {
    transform_tile(arguments, problem, row, tiles, (thread - row * vectors) * vector);
    return;
  }
  const long long rest = thread - tiles * vectors;
  const int block = rest / problem.n;  // of channels; threads side by side have filters side by side
  if (block < vectors)
    transform_filter(arguments, problem, rest - block * static_cast<long long>(problem.n), block * vector);
}
