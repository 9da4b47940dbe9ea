#pragma once
#include "cuda/packed.cuh"
#include "matmul/gemm/wgmma_tiles.cuh"
#include "matmul/gemv/activation.cuh"
// A consumer's sums on their way to D.

using Result = Problem::Result;

constexpr int warpgroup_threads = 128;
constexpr int consumer_rows = Schedule::block_m / (Schedule::pingpong ? 1 : Schedule::consumers);
constexpr int products_m = consumer_rows / product_rows;
constexpr int staged_bytes = 0;

// The sums of a thread: see cuda/wgmma.cuh.
struct Accumulators {
  float d[products_m][Schedule::block_n / 2];
};

// A warpgroup that multiplies: its number, and the first row of its sums in a tile. All lanes of a warp have
// them from one, so that the compiler keeps them in uniform registers.
struct Consumer {
  int number;
  int row;

  __device__ __forceinline__ Consumer()
      : number(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warpgroup_threads - 1, 0)),
        row(Schedule::pingpong ? 0 : number * consumer_rows) {}
};

// Two neighbours of a row, of which so many columns are in the matrix.
struct Pair {
  Packed<Result, 2> packed;

  __device__ __forceinline__ void load(const Result* source, int columns_left) {
    if (Schedule::vector_d >= 2 && (!Problem::edge_n || columns_left >= 2)) {
      packed.bits = *reinterpret_cast<const typename Packed<Result, 2>::Bits*>(source);
    } else {
      packed.elements[0] = source[0];
      if (!Problem::edge_n || columns_left >= 2) packed.elements[1] = source[1];
    }
  }
  __device__ __forceinline__ void store(Result* target, int columns_left) const {
    if (Schedule::vector_d >= 2 && (!Problem::edge_n || columns_left >= 2)) {
      store_global<false>(target, packed);
    } else {
      target[0] = packed.elements[0];
      if (!Problem::edge_n || columns_left >= 2) target[1] = packed.elements[1];
    }
  }
};

// Where a thread's sums are: element 4·j + 2·half + i of a product is in row `row(half)` of its 64 rows and
// in column 8·j + `column()` + i.
struct SumPosition {
  static __device__ __forceinline__ int row(int half) {
    return threadIdx.x % warpgroup_threads / 32 * 16 + threadIdx.x % 32 / 4 + 8 * half;
  }
  static __device__ __forceinline__ int column() { return threadIdx.x % 4 * 2; }
};

// The elements of D that two neighbouring sums become.
__device__ __forceinline__ Pair finished_pair(const Arguments& arguments, const Problem& problem,
                                              const float* sums, int m, int n, long long offset) {
  float biases[2] = {};
#if bias == row
#  pragma unroll
  for (int i = 0; i < 2; ++i)
    if (!Problem::edge_n || n + i < problem.n) biases[i] = to_float(arguments.bias[n + i]);
#elif bias == column
  biases[0] = biases[1] = to_float(arguments.bias[m]);
#endif
  Pair before = {}, result;
#if beta_nonzero
  before.load(arguments.c + offset, problem.n - n);
#endif
  float finished_sums[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    finished_sums[i] = finished(arguments, problem, sums[i], biases[i], to_float(before.packed.elements[i]));
  from_floats(result.packed.elements, finished_sums);
  return result;
}

// Stores the sums from registers.
__device__ __forceinline__ void store_sums(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, const Consumer& own, const Accumulators& sums) {
#pragma unroll
  for (int i = 0; i < 2 * products_m; ++i) {
    const int product = i / 2, half = i % 2;
    const int m = tile.m + own.row + product * product_rows + SumPosition::row(half);
    if (Problem::edge_m && m >= problem.m) continue;
    const long long row = tile.batch * problem.stride_d + m * problem.ldd;
#pragma unroll
    for (int j = 0; j < Schedule::block_n / 8; ++j) {
      const int n = tile.n + 8 * j + SumPosition::column();
      if (Problem::edge_n && n >= problem.n) continue;
      finished_pair(arguments, problem, sums.d[product] + 4 * j + 2 * half, m, n, row + n)
          .store(arguments.d + row + n, problem.n - n);
    }
  }
}
