#pragma once
#include "cuda/vector.cuh"
#include "matmul/sgemm/layout.cuh"
// The outer products of a thread: fragments from shared memory, and FFMAs in the order of the schedule.

struct Fragments {
  alignas(16) float a[Schedule::thread_m];
  alignas(16) float b[Schedule::thread_n];
};

struct Accumulators {
  float c[Schedule::thread_m][Schedule::thread_n] = {};
};

// Reads row k of a tile at the strips of this thread, the first of which is at `column`.
template <class Layout, class Strips>
__device__ __forceinline__ void load_fragment(float (&fragment)[Strips::extent], const float* tile, int k,
                                              int column) {
#pragma unroll
  for (int strip = 0; strip < Strips::count; ++strip) {
#if swizzle_a || swizzle_b
    // Where the XOR does not touch the bits of the strips' distance, they share one address register.
    const int index = Strips::step % 32 == 0 ? Layout::index(k, column) + strip * Strips::step
                                             : Layout::index(k, column + strip * Strips::step);
#else
    const int index = Layout::index(k, column) + strip * Strips::step;
#endif
    copy_vector<Strips::width>(fragment + strip * Strips::width, tile + index);
  }
}

// Position in the thread's tile of the FFMA at `step`.
constexpr __device__ __forceinline__ Position ffma_position(int step) {
#if ffma_order == row || ffma_order == serpentine_row
  constexpr int columns = Schedule::thread_n;
  const int row = step / columns, column = step % columns;
#elif ffma_order == column || ffma_order == serpentine_column
  constexpr int rows = Schedule::thread_m;
  const int row = step % rows, column = step / rows;
#endif
#if ffma_order == row || ffma_order == column
  return {row, column};
#elif ffma_order == serpentine_row
  // Neighbours share an operand, which the register file then reads once.
  return {row, row % 2 ? columns - 1 - column : column};
#elif ffma_order == serpentine_column
  // Neighbours share an operand, which the register file then reads once.
  return {column % 2 ? rows - 1 - row : row, column};
#else
  // Squares of 2×2, row by row. Neighbours in a square share an operand, which the register file reads once.
  constexpr int columns = Schedule::thread_n;
  const int square = step / 4, corner = step % 4;
  const int top = square / (columns / 2 + columns % 2) * 2, left = square % (columns / 2 + columns % 2) * 2;
  return {top + corner / 2, left + (corner == 1 || corner == 2)};
#endif
}

__device__ __forceinline__ void multiply_add(Accumulators& sum, const Fragments& fragments) {
#pragma unroll
  for (int step = 0; step < Schedule::thread_m * Schedule::thread_n; ++step) {
    const Position at = ffma_position(step);
    sum.c[at.m][at.n] = fmaf(fragments.a[at.m], fragments.b[at.n], sum.c[at.m][at.n]);
  }
}
