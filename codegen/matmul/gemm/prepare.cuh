#pragma once
#include "cuda/realigned.cuh"
// Operands are copied to the workspace ahead of the product, to rows that are aligned to 16 bytes.

constexpr int prepare_threads = 128;

// The matrices of an operand as they are stored, and where their copies are: zeros follow each row of a copy
// up to a multiple of 16 bytes. `transpose`: rows of a copy are columns of the operand. `aligned`: rows of
// the operand begin and end at multiples of 16 bytes.
template <typename Element, bool transpose, bool aligned>
struct OperandCopy {
  static constexpr int width = RealignedLoad<Element>::width;  // elements of a store
  static constexpr int rounds = 4;                             // stores of a thread that does not transpose
  // Of threads that transpose, neighbours store 128 bytes of a row together; the others are beside them.
  static constexpr int lanes_m = 8, lanes_n = prepare_threads / lanes_m;

  const Element* source;
  Element* target;
  int rows, columns, batch;  // the operand's
  long long leading, stride, target_leading, target_stride;

  // What this takes of a grid.
  __device__ __forceinline__ unsigned blocks() const {
    return transpose ? tiles_m() * tiles_n() * batch : (units() - 1) / (prepare_threads * rounds) + 1;
  }

  __device__ __forceinline__ void copy(unsigned block) const {
    if constexpr (transpose) {
      copy_tile(block);
    } else {
      copy_units(block);
    }
  }

 private:
  // 16 bytes of a row of the copy; a workspace has room for fewer than 2^32.
  __device__ __forceinline__ unsigned row_units() const { return (columns - 1u) / width + 1; }
  __device__ __forceinline__ unsigned units() const { return row_units() * rows * batch; }
  __device__ __forceinline__ unsigned tiles_m() const { return (rows - 1u) / (lanes_m * width) + 1; }
  __device__ __forceinline__ unsigned tiles_n() const { return (columns - 1u) / (lanes_n * width) + 1; }

  __device__ __forceinline__ void begin(RealignedLoad<Element>& load, int matrix, int row, int column) const {
    const Element* end = source + ((batch - 1) * stride + (rows - 1) * leading + columns);
    load.begin(source + (matrix * stride + row * leading + column), row < rows ? columns - column : 0, source,
               end);
  }

  __device__ __forceinline__ void store(int matrix, int row, int column,
                                        const Packed<Element, width>& elements) const {
    store_global<false>(target + (matrix * target_stride + row * target_leading + column), elements);
  }

  __device__ __forceinline__ void copy_units(unsigned block) const {
    RealignedLoad<Element> loads[rounds];
    int matrix[rounds], row[rounds], column[rounds];
    const unsigned first = block * (prepare_threads * rounds) + threadIdx.x, all = units(),
                   in_row = row_units();
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const unsigned unit = first + i * prepare_threads;
      row[i] = unit / in_row;
      column[i] = unit % in_row * width;
      if constexpr (Problem::batched) {
        matrix[i] = row[i] / rows;
        row[i] %= rows;
      } else {
        matrix[i] = 0;
      }
      if (unit < all) begin(loads[i], matrix[i], row[i], column[i]);
    }
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      if (first + i * prepare_threads < all) store(matrix[i], row[i], column[i], loads[i].elements());
    }
  }

  // Loads a square whose columns are in the matrix; zeros for rows behind the last.
  __device__ __forceinline__ void load(Packed<Element, width> (&loaded)[width], int matrix, int row,
                                       int column) const {
    if constexpr (aligned) {
      const Element* first = source + (matrix * stride + row * leading + column);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        loaded[i] = {};
        if (row + i < rows) loaded[i] = load_global<width, false>(first + i * leading);
      }
    } else {
      RealignedLoad<Element> loads[width];
#pragma unroll
      for (int i = 0; i < width; ++i) begin(loads[i], matrix, row + i, column);
#pragma unroll
      for (int i = 0; i < width; ++i) loaded[i] = loads[i].elements();
    }
  }

  __device__ __forceinline__ void copy_tile(unsigned block) const {
    const unsigned tiles = tiles_m() * tiles_n(), tile = block % tiles;
    const int matrix = block / tiles;
    const int row = (tile / tiles_n() * lanes_m + threadIdx.x % lanes_m) * width;
    const int column = (tile % tiles_n() * lanes_n + threadIdx.x / lanes_m) * width;
    if (row >= rows || column >= columns) return;
    Packed<Element, width> loaded[width];
    load(loaded, matrix, row, column);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      Packed<Element, width> stored;
#pragma unroll
      for (int i = 0; i < width; ++i) stored.elements[i] = loaded[i].elements[j];
      if (aligned || column + j < columns) store(matrix, column + j, row, stored);
    }
  }
};
