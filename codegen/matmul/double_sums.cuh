#pragma once
#include "cuda/shared_memory.cuh"
// The sums of a reference, in double. A block computes a tile of 64x64 of them from tiles of both operands in
// shared memory: a thread that reads global memory for each product takes ten times as long, while a tuner
// waits.

constexpr int sums_tile = 64;   // rows and columns of a block
constexpr int sums_side = 4;    // those of a thread
constexpr int sums_steps = 16;  // along k of a tile in shared memory
constexpr int sums_threads = sums_tile / sums_side * (sums_tile / sums_side);
using SumsStep = double[sums_tile + 1];  // one step of a tile

// The row of a block's tile that holds a thread's sums number i, and the column of its sums number j.
__device__ __forceinline__ int sums_row(int i) {
  return threadIdx.x / (sums_tile / sums_side) + i * (sums_tile / sums_side);
}
__device__ __forceinline__ int sums_column(int j) {
  return threadIdx.x % (sums_tile / sums_side) + j * (sums_tile / sums_side);
}

// A tile of one operand. `load` takes the place across k in the block's tile and the step along k;
// neighbouring threads take neighbours along k or across.
template <bool along_k, typename Load>
__device__ __forceinline__ void load_doubles(SumsStep* tile, int first, int k, Load load) {
  for (int i = threadIdx.x; i < sums_steps * sums_tile; i += sums_threads) {
    const int step = along_k ? i % sums_steps : i / sums_tile;
    const int across = along_k ? i / sums_steps : i % sums_tile;
    tile[step][across] = first + step < k ? load(across, first + step) : 0.0;
  }
}

// Called by all threads of a block.
template <bool a_along_k, bool b_along_k, typename LoadA, typename LoadB>
__device__ __forceinline__ void double_sums(int k, double (&sums)[sums_side][sums_side], LoadA load_a,
                                            LoadB load_b) {
  SumsStep* a = dynamic_shared<SumsStep>();
  SumsStep* b = a + sums_steps;
  for (int i = 0; i < sums_side; ++i)
    for (int j = 0; j < sums_side; ++j) sums[i][j] = 0;
  for (int first = 0; first < k; first += sums_steps) {
    load_doubles<a_along_k>(a, first, k, load_a);
    load_doubles<b_along_k>(b, first, k, load_b);
    __syncthreads();
#pragma unroll 4
    for (int step = 0; step < sums_steps; ++step) {
      double column[sums_side];
#pragma unroll
      for (int j = 0; j < sums_side; ++j) column[j] = b[step][sums_column(j)];
#pragma unroll
      for (int i = 0; i < sums_side; ++i) {
        const double row = a[step][sums_row(i)];
#pragma unroll
        for (int j = 0; j < sums_side; ++j) sums[i][j] += row * column[j];
      }
    }
    __syncthreads();
  }
}
