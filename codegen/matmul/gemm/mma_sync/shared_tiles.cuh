#pragma once
#include "cuda/shared_matrices.cuh"
#include "cuda/shared_memory.cuh"
// The tiles of A and B in shared memory, whose rows lie as in global memory, and the fragments that tensor
// cores take of them.

using Element = Problem::Element;    // elements of A, as large as those of B
using ElementB = Problem::ElementB;  // another one only of float8

constexpr int warps_n = Schedule::block_n / Schedule::warp_n;
constexpr int threads = Schedule::block_m / Schedule::warp_m * warps_n * 32;
constexpr int unit_bytes = 16;                   // a row of ldmatrix
constexpr int product_k = 32 / sizeof(Element);  // terms of a product of tensor cores
constexpr int line_bytes = 128;                  // all banks of shared memory
constexpr int block_rows = 16;                   // rows of A, or columns of B, in the four matrices of a load

// A power of two that divides `value`, 8 at most.
__device__ constexpr int divisor_up_to_8(int value) {
  return value % 8 == 0 ? 8 : value % 4 == 0 ? 4 : value % 2 == 0 ? 2 : 1;
}

// The tile of an operand, `extent` elements of it across k. `along_k`: its rows run along k. The rows that
// are read at once lie in different banks: the units of a row are permuted, or rows are padded. These are 8
// neighbouring rows of ldmatrix; of floats across k 4 neighbouring rows, of which 2 units are read; of bytes
// across k the rows 0, 1, 4, 5, 8, 9, 12 and 13.
template <typename Number, int extent_, bool along_k_, int vector_>
struct TileLayout {
  using Element = Number;
  static constexpr int extent = extent_;
  static constexpr bool along_k = along_k_;
  static constexpr int vector = vector_;  // elements that are copied at once
  static constexpr int rows = along_k ? extent : Schedule::block_k;
  static constexpr int columns = along_k ? Schedule::block_k : extent;
  static constexpr int row_bytes = columns * sizeof(Element);
  static constexpr bool swizzled = Schedule::shared_layout == SharedLayout::swizzled;
  static constexpr int padding = (sizeof(Element) == 4 && !along_k ? 2 : 1) * unit_bytes;
  static constexpr int pitch = row_bytes + (swizzled ? 0 : padding);
  static constexpr int bytes = rows * pitch;

  // Where a byte of a row is.
  static __device__ __forceinline__ int offset(int row, int byte) {
    if constexpr (!swizzled) return row * pitch + byte;
    constexpr int masks = divisor_up_to_8(row_bytes / unit_bytes);
    constexpr int rows_of_line = row_bytes < line_bytes ? line_bytes / row_bytes : 1;
    const int line = row / rows_of_line;
    if constexpr (sizeof(Element) == 2) {
      return row * pitch + (byte ^ line % masks * unit_bytes);
    } else if constexpr (sizeof(Element) == 4) {
      return row * pitch + (byte ^ (along_k ? line % masks : line % (masks / 2) * 2) * unit_bytes);
    } else {
      constexpr int halves = rows_of_line == 1 ? 2 : 1;  // rows 2 and 3 of 4 go where rows 0 and 1 do
      const int across_k = line % halves + row / 4 * halves;
      return row * pitch + (byte ^ (along_k ? line : across_k) % masks * unit_bytes);
    }
  }

  // Loads 16 rows of op(A), or columns of op(B), from `first` on, by the terms of product number `step`. Half
  // of the registers have the first half of the terms, and half of them the first 8 rows or columns, or of
  // bytes across k every second one. A product takes registers of the same rows, and of the same columns, by
  // terms: those of columns lie side by side, or ptxas would move one of each pair.
  template <bool of_columns>
  static __device__ __forceinline__ void load(unsigned (&registers)[4], const unsigned char* tile, int first,
                                              int step) {
    const int lane = threadIdx.x % 32;
    const int outer = lane / 16,
              inner = lane / 8 % 2;  // of ldmatrix: whose registers are apart, and side by side
    const int terms = of_columns ? inner : outer, place = of_columns ? outer : inner;
    if constexpr (along_k) {
      const int at = offset(first + place * 8 + lane % 8, (2 * step + terms) * unit_bytes);
      load_matrices<false>(registers, tile + at);
    } else if constexpr (sizeof(Element) == 2) {
      const int k = step * product_k + terms * 8 + lane % 8;
      const int at = offset(k, first * static_cast<int>(sizeof(Element)) + place * unit_bytes);
      load_matrices<true>(registers, tile + at);
    } else if constexpr (sizeof(Element) == 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = step * product_k + (of_columns ? i % 2 : i / 2) * 4 + lane % 4;
        const int across = first + (of_columns ? i / 2 : i % 2) * 8 + lane / 4;
        registers[i] = *reinterpret_cast<const unsigned*>(tile + offset(k, 4 * across));
      }
    } else {
      // Of 4 neighbouring terms a matrix has two rows, each of pairs of bytes that lie across k.
      const int k = step * product_k + lane / 16 * 16 + lane % 8 / 2 * 4 + lane / 8 % 2 * 2 + lane % 2;
      unsigned pairs[4];
      load_matrices<true>(pairs, tile + offset(k, first));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned low = pairs[2 * half], high = pairs[2 * half + 1];
        registers[of_columns ? half : 2 * half] = __byte_perm(low, high, 0x6420);
        registers[of_columns ? half + 2 : 2 * half + 1] = __byte_perm(low, high, 0x7531);
      }
    }
  }

  // Whether a load has every second row or column in a register, rather than 8 neighbours.
  static constexpr bool interleaved = !along_k && sizeof(Element) == 1;
};

using TileA = TileLayout<Element, Schedule::block_m, !Problem::transpose_a, Schedule::vector_a>;
using TileB = TileLayout<ElementB, Schedule::block_n, Problem::transpose_b, Schedule::vector_b>;
constexpr int stage_bytes = TileA::bytes + TileB::bytes;
