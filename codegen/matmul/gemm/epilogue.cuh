#pragma once
#if result == int8 || result == float8_e4m3fn || result == float8_e5m2
#  include "cuda/narrow.cuh"
#endif
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/vector.cuh"
#include "matmul/gemm/main_loop.cuh"
#include "matmul/gemm/tiling.cuh"
#if result == int32
#  include "matmul/gemm/integer_result.cuh"
#else
#  include "matmul/gemv/activation.cuh"
#endif
// A tile of D on its way to global memory: 16 rows of a warp at a time through shared memory, from which
// neighbouring lanes take neighbouring vectors of a row.

using Result = Problem::Result;

// How a lane's sums are counted: vectors of four, a fragment of several at a time.
struct Output {
  static constexpr int width = 4;
  static constexpr int vectors = products_m * products_n;
  static constexpr int fragment_vectors = 2;

  struct Fragment {
    alignas(16) Problem::Sum elements[fragment_vectors][width];
  };
};

// All threads of a block share its tile.
constexpr int tile_threads = threads;
__device__ __forceinline__ int tile_thread() { return threadIdx.x; }

// Calls `visit` with the first vector of each fragment.
template <class Visit>
__device__ __forceinline__ void for_each_fragment(Visit visit) {
#pragma unroll
  for (int first = 0; first < Output::vectors; first += Output::fragment_vectors) visit(first);
}

__device__ __forceinline__ void get_fragment(Output::Fragment& fragment, const Accumulators& sums,
                                             int first) {
#pragma unroll
  for (int i = 0; i < Output::fragment_vectors; ++i) {
#pragma unroll
    for (int j = 0; j < Output::width; ++j)
      fragment.elements[i][j] = sums.d[(first + i) / products_n][(first + i) % products_n][j];
  }
}

// Sums that are stored at once.
template <int count>
struct alignas(count * sizeof(Problem::Sum)) Neighbours {
  Problem::Sum elements[count];
};

// The rows of a warp in shared memory, and which of their vectors a lane has.
struct StagedRows {
  static constexpr int rows = 16;
  static constexpr int pitch = Schedule::warp_n + 8;  // 8 rows of pairs in different banks
  static constexpr int width = Schedule::vector_d;
  static constexpr int lanes_n = Schedule::warp_n / width < 32 ? Schedule::warp_n / width : 32;
  static constexpr int rounds_n = Schedule::warp_n / (width * lanes_n);
  static constexpr int lanes_m = 32 / lanes_n;

  static __device__ __forceinline__ Problem::Sum* first() {
    return dynamic_shared<Problem::Sum>() + threadIdx.x / 32 * (rows * pitch);
  }
  // Stores the sums of two products, of columns `column` to `column` + 15.
  static __device__ __forceinline__ void store(const Output::Fragment& fragment, int column) {
    const int quad = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = TileA::interleaved ? 2 * quad + half : quad + 8 * half;
      Problem::Sum* target = first() + row * pitch + column;
      const auto &left = fragment.elements[0], &right = fragment.elements[1];
      if constexpr (TileB::interleaved) {
        const Neighbours<4> sums = {left[2 * half], right[2 * half], left[2 * half + 1], right[2 * half + 1]};
        *reinterpret_cast<Neighbours<4>*>(target + 4 * place) = sums;
      } else {
        *reinterpret_cast<Neighbours<2>*>(target + 2 * place) = {left[2 * half], left[2 * half + 1]};
        *reinterpret_cast<Neighbours<2>*>(target + 2 * place + 8) = {right[2 * half], right[2 * half + 1]};
      }
    }
  }
};

// Computes a vector of D from its sums and stores it, as far as it is in the matrix.
__device__ __forceinline__ void store_vector(const Arguments& arguments, const Problem& problem,
                                             const Problem::Sum* sums,
                                             const float (&factors)[StagedRows::width],
                                             const float (&biases)[StagedRows::width], long long offset,
                                             int columns_left) {
  constexpr int width = StagedRows::width;
  const bool whole = !Problem::edge_n || columns_left >= width;
  Packed<Result, width> before = {}, result;
#if beta_nonzero
  if (whole) {
    before.bits = *reinterpret_cast<const typename Packed<Result, width>::Bits*>(arguments.c + offset);
  } else {
#  pragma unroll
    for (int i = 0; i < width; ++i)
      if (i < columns_left) before.elements[i] = arguments.c[offset + i];
  }
#endif
#if result == int32
#  pragma unroll
  for (int i = 0; i < width; ++i) result.elements[i] = finished_integer(arguments, problem, sums[i]);
#else
  float finished_sums[width];
#  pragma unroll
  for (int i = 0; i < width; ++i)
    finished_sums[i] = finished(arguments, problem, factors[i] * static_cast<float>(sums[i]), biases[i],
                                to_float(before.elements[i]));
#  if result == int8 || result == float8_e4m3fn || result == float8_e5m2
#    pragma unroll
  for (int i = 0; i < width; ++i) result.elements[i] = from_float_saturated<Result>(finished_sums[i]);
#  else
  from_floats(result.elements, finished_sums);
#  endif
#endif
  if (whole) {
    store_global<false>(arguments.d + offset, result);
  } else {
#pragma unroll
    for (int i = 0; i < width; ++i)
      if (i < columns_left) arguments.d[offset + i] = result.elements[i];
  }
}

// Stores the block's tile. `load` sets a fragment to the lane's sums from a vector on.
template <class Load>
__device__ __forceinline__ void store_tile(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, Load load) {
  using Rows = StagedRows;
  constexpr int width = Rows::width;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_m = tile.m + warp / warps_n * Schedule::warp_m + lane / Rows::lanes_n;
  const int staged_n = lane % Rows::lanes_n * width;
  const int first_n = tile.n + warp % warps_n * Schedule::warp_n + staged_n;
#if scales == tensor_scales
  const float tensor_scale = arguments.scale_a[0] * arguments.scale_b[0];
#elif scales == row_scales
  float column_scales[Rows::rounds_n][width] = {};
#  pragma unroll
  for (int i = 0; i < Rows::rounds_n * width; ++i) {
    const int n = first_n + i / width * Rows::lanes_n * width + i % width;
    if (!Problem::edge_n || n < problem.n) column_scales[i / width][i % width] = arguments.scale_b[n];
  }
#endif
  float biases[Rows::rounds_n][width] = {};
#if bias == row
#  pragma unroll
  for (int i = 0; i < Rows::rounds_n * width; ++i) {
    const int n = first_n + i / width * Rows::lanes_n * width + i % width;
    if (!Problem::edge_n || n < problem.n) biases[i / width][i % width] = to_float(arguments.bias[n]);
  }
#endif
#pragma unroll
  for (int i = 0; i < products_m; ++i) {
    __syncwarp();
#pragma unroll
    for (int j = 0; j < products_n; j += Output::fragment_vectors) {
      Output::Fragment fragment;
      load(fragment, i * products_n + j);
      Rows::store(fragment, 8 * j);
    }
    __syncwarp();
#pragma unroll 1
    for (int row = 0; row < Rows::rows; row += Rows::lanes_m) {
      const int m = first_m + 16 * i + row;
#if edge_m
      if (m >= problem.m) continue;
#endif
      const Problem::Sum* sums = Rows::first() + (lane / Rows::lanes_n + row) * Rows::pitch + staged_n;
#if scales == row_scales
      const float row_scale = arguments.scale_a[m];
#endif
#if bias == column
      const float own_bias = to_float(arguments.bias[m]);
#  pragma unroll
      for (int l = 0; l < width; ++l) biases[0][l] = own_bias;
#endif
#pragma unroll
      for (int j = 0; j < Rows::rounds_n; ++j) {
        const int n = first_n + j * Rows::lanes_n * width;
        if (Problem::edge_n && n >= problem.n) continue;
        float factors[width];
#pragma unroll
        for (int l = 0; l < width; ++l) {
#if scales == tensor_scales
          factors[l] = tensor_scale;
#elif scales == row_scales
          factors[l] = row_scale * column_scales[j][l];
#else
          factors[l] = 1.0f;
#endif
        }
        const long long offset = tile.batch * problem.stride_d + m * problem.ldd + n;
#if bias == column
        constexpr int of_round = 0;
#else
        const int of_round = j;
#endif
        store_vector(arguments, problem, sums + j * Rows::lanes_n * width, factors, biases[of_round], offset,
                     problem.n - n);
      }
    }
  }
}
