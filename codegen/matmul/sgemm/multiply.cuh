#pragma once
#include "cuda/vector.cuh"
#include "matmul/sgemm/layout.cuh"
// The inner product of a thread: fragments from shared memory, and the FFMAs in the order that the schedule
// asks for.

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
    // Where the XOR stays clear of the strips' distance, they share one address register.
    const int index = Strips::step % 32 == 0 ? Layout::index(k, column) + strip * Strips::step
                                             : Layout::index(k, column + strip * Strips::step);
    copy_vector<Strips::width>(fragment + strip * Strips::width, tile + index);
  }
}

// The position in the thread tile of the FFMA at `step`. Neighbours in the serpentine orders and in the 2×2
// zigzag share an operand, which the register file then reads once.
constexpr __device__ __forceinline__ Position ffma_position(int step) {
  constexpr int rows = Schedule::thread_m;
  constexpr int columns = Schedule::thread_n;
  const int row = step / columns, column = step % columns;  // row by row
  const int down = step % rows, right = step / rows;        // column by column
  const int square = step / 4, corner = step % 4;           // 2×2 squares, row by row
  const int top = square / (columns / 2 + columns % 2) * 2, left = square % (columns / 2 + columns % 2) * 2;
  switch (Schedule::ffma_order) {
    case FfmaOrder::row:
      return {row, column};
    case FfmaOrder::column:
      return {down, right};
    case FfmaOrder::serpentine_row:
      return {row, row % 2 ? columns - 1 - column : column};
    case FfmaOrder::serpentine_column:
      return {right % 2 ? rows - 1 - down : down, right};
    case FfmaOrder::zigzag:
      return {top + corner / 2, left + (corner == 1 || corner == 2)};
  }
  return {};
}

__device__ __forceinline__ void multiply_add(Accumulators& sum, const Fragments& fragments) {
#pragma unroll
  for (int step = 0; step < Schedule::thread_m * Schedule::thread_n; ++step) {
    const Position at = ffma_position(step);
    sum.c[at.m][at.n] = fmaf(fragments.a[at.m], fragments.b[at.n], sum.c[at.m][at.n]);
  }
}
