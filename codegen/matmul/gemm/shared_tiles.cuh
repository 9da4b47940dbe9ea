#pragma once
#include "cuda/shared_matrices.cuh"
#include "cuda/shared_memory.cuh"
// The tiles of A and B in shared memory, whose rows lie as in global memory, and the fragments that tensor
// cores take of them.

using Element = Problem::Element;

constexpr int warps_n = Schedule::block_n / Schedule::warp_n;
constexpr int threads = Schedule::block_m / Schedule::warp_m * warps_n * 32;
constexpr int unit_bytes = 16;   // of a row of ldmatrix
constexpr int product_k = 16;    // terms of a product of tensor cores
constexpr int line_bytes = 128;  // of the banks of shared memory
constexpr int block_rows = 16;   // of A, or columns of B, in the four matrices of a load

// A power of two that divides `value`, 8 at most.
__device__ constexpr int divisor_up_to_8(int value) {
  return value % 8 == 0 ? 8 : value % 4 == 0 ? 4 : value % 2 == 0 ? 2 : 1;
}

// The tile of an operand, `extent` elements of it across k. `along_k`: its rows run along k. 8 neighbouring
// rows of ldmatrix lie in different banks: the units of a row are permuted, or rows are padded by one.
template <int extent_, bool along_k_, int vector_>
struct TileLayout {
  static constexpr int extent = extent_;
  static constexpr bool along_k = along_k_;
  static constexpr int vector = vector_;  // elements that are copied at once
  static constexpr int rows = along_k ? extent : Schedule::block_k;
  static constexpr int columns = along_k ? Schedule::block_k : extent;
  static constexpr int row_bytes = columns * sizeof(Element);
#if shared_layout == swizzled
  static constexpr int pitch = row_bytes;
#else
  static constexpr int pitch = row_bytes + unit_bytes;
#endif
  static constexpr int bytes = rows * pitch;

  // Where a byte of a row is.
  static __device__ __forceinline__ int offset(int row, int byte) {
#if shared_layout == swizzled
    constexpr int masks = divisor_up_to_8(row_bytes / unit_bytes);
    constexpr int rows_of_line = row_bytes < line_bytes ? line_bytes / row_bytes : 1;
    return row * pitch + (byte ^ row / rows_of_line % masks * unit_bytes);
#else
    return row * pitch + byte;
#endif
  }

  // Loads 16 rows of op(A), or columns of op(B), from `first` on, by the 16 terms of product number `step`.
  // Matrices 0 and 1 have the first 8 terms, 0 and 2 the first 8 rows or columns.
  static __device__ __forceinline__ void load(unsigned (&registers)[4], const unsigned char* tile, int first,
                                              int step) {
    const int lane = threadIdx.x % 32;
    int at;
    if constexpr (along_k) {
      at = offset(first + lane % 16, (2 * step + lane / 16) * unit_bytes);
    } else {
      const int k = step * product_k + lane / 16 * 8 + lane % 8;
      at = offset(k, first * static_cast<int>(sizeof(Element)) + lane / 8 % 2 * unit_bytes);
    }
    load_matrices<!along_k>(registers, tile + at);
  }
};

using TileA = TileLayout<Schedule::block_m, !Problem::transpose_a, Schedule::vector_a>;
using TileB = TileLayout<Schedule::block_n, Problem::transpose_b, Schedule::vector_b>;
constexpr int stage_bytes = TileA::bytes + TileB::bytes;
