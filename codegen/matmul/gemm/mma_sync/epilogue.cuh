#pragma once
#if result == int8 || result == float8_e4m3fn || result == float8_e5m2
#  include "cuda/narrow.cuh"
#endif
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/vector.cuh"
#include "epilogue/finish.cuh"
#include "matmul/gemm/mma_sync/main_loop.cuh"
#include "matmul/gemm/tiling.cuh"
#if result == int32
#  include "matmul/gemm/integer_result.cuh"
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

// The rows of a warp in shared memory, and which vectors of D a lane has of them.
struct StagedRows {
  static constexpr int rows = 16;
  static constexpr int pitch = Schedule::warp_n + 8;  // 8 rows of pairs in different banks
  static constexpr int width = Schedule::vector_d;
  static constexpr int columns = Schedule::warp_n / parts;  // those of D
  static constexpr int lanes_n = columns / width < 32 ? columns / width : 32;
  static constexpr int rounds_n = columns / (width * lanes_n);
  static constexpr int lanes_m = 32 / lanes_n;

  static __device__ __forceinline__ Problem::Sum* first() {
    return dynamic_shared<Problem::Sum>() + threadIdx.x / 32 * (rows * pitch);
  }
  // Where the sum for part `part` of a column of D is in a row.
  static __device__ constexpr int place(int column, int part) {
#if gate == halves
    return column + part * columns;
#else
    return parts * column + part;
#endif
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

#if result != int32
// Rounds to the type of D.
__device__ __forceinline__ void to_results(Result (&results)[StagedRows::width],
                                           const float (&numbers)[StagedRows::width]) {
#  if result == int8 || result == float8_e4m3fn || result == float8_e5m2
#    pragma unroll
  for (int i = 0; i < StagedRows::width; ++i) results[i] = from_float_saturated<Result>(numbers[i]);
#  else
  from_floats(results, numbers);
#  endif
}

#endif
// Stores as many elements of a vector as are left in its row.
__device__ __forceinline__ void store_left(Result* target, const Packed<Result, StagedRows::width>& vector,
                                           int left) {
  if (!Problem::edge_n || left >= StagedRows::width) {
    store_global<false>(target, vector);
  } else {
#pragma unroll
    for (int i = 0; i < StagedRows::width; ++i)
      if (i < left) target[i] = vector.elements[i];
  }
}

// The elements of Z for a vector of D: gates, and then factors.
using Vector = float[parts][StagedRows::width];

#if preactivation
// Stores the elements of Z for the columns of D from `n` on.
__device__ __forceinline__ void keep(const Arguments& arguments, const Problem& problem, const Vector& z,
                                     long long row, int n) {
  constexpr int width = StagedRows::width;
#  pragma unroll
  for (int part = 0; part < parts; ++part) {
    float kept[width];
    Packed<Result, width> vector;
#  pragma unroll
    for (int i = 0; i < width; ++i) {
#  if gate == interleaved
      kept[i] = z[(part * width + i) % 2][(part * width + i) / 2];
#  else
      kept[i] = z[part][i];
#  endif
    }
    to_results(vector.elements, kept);
#  if gate == interleaved
    const int column = 2 * n + part * width, left = problem.n - column;
#  else
    const int column = product_column(problem, n, part), left = problem.n / parts - n;
#  endif
    store_left(arguments.z + row * problem.n + column, vector, left);
  }
}

#endif
// Computes a vector of D from its sums and stores it, as far as it is in the matrix.
__device__ __forceinline__ void store_vector(const Arguments& arguments, const Problem& problem,
                                             const Problem::Sum* sums, const Vector& factors,
                                             const Vector& biases, const Tile& tile, int m, int n) {
  constexpr int width = StagedRows::width;
  const int columns_left = problem.n / parts - n;
#if phased
  const long long offset = place_of_row(problem, tile.batch, m) + n;
#else
  const long long offset = tile.batch * problem.stride_d + m * problem.ldd + n;
#endif
  Packed<Result, width> result;
#if result == int32
#  pragma unroll
  for (int i = 0; i < width; ++i) result.elements[i] = finished_integer(arguments, problem, sums[i]);
#else
  Vector z;
#  pragma unroll
  for (int part = 0; part < parts; ++part) {
#  pragma unroll
    for (int i = 0; i < width; ++i) {
      const float sum = factors[part][i] * static_cast<float>(sums[StagedRows::place(i, part)]);
      z[part][i] = before_activation(arguments, problem, sum, biases[part][i]);
    }
  }
#  if preactivation
  keep(arguments, problem, z, static_cast<long long>(tile.batch) * problem.m + m, n);
#  endif
  Packed<Result, width> before = {};
#  if beta_nonzero
  if (!Problem::edge_n || columns_left >= width) {
    before.bits = *reinterpret_cast<const typename Packed<Result, width>::Bits*>(arguments.c + offset);
  } else {
#    pragma unroll
    for (int i = 0; i < width; ++i)
      if (i < columns_left) before.elements[i] = arguments.c[offset + i];
  }
#  endif
  float finished[width];
#  pragma unroll
  for (int i = 0; i < width; ++i) {
    float of_element[parts];
#  pragma unroll
    for (int part = 0; part < parts; ++part) of_element[part] = z[part][i];
    finished[i] = after_activation(arguments, of_element, to_float(before.elements[i]));
  }
  to_results(result.elements, finished);
#endif
  store_left(arguments.d + offset, result, columns_left);
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
  const int first_n = tile.n / parts + warp % warps_n * Rows::columns + staged_n;
#if scales == tensor_scales
  const float tensor_scale = arguments.scale_a[0] * arguments.scale_b[0];
#elif scaled_columns
  Vector column_scales[Rows::rounds_n] = {};
#  pragma unroll
  for (int i = 0; i < Rows::rounds_n * width; ++i) {
    const int n = first_n + i / width * Rows::lanes_n * width + i % width;
    if (Problem::edge_n && n >= problem.n / parts) continue;
#  pragma unroll
    for (int part = 0; part < parts; ++part)
      column_scales[i / width][part][i % width] = arguments.scale_b[product_column(problem, n, part)];
  }
#endif
  Vector biases[Rows::rounds_n] = {};
#if bias == row
#  pragma unroll
  for (int i = 0; i < Rows::rounds_n * width; ++i) {
    const int n = first_n + i / width * Rows::lanes_n * width + i % width;
    if (Problem::edge_n && n >= problem.n / parts) continue;
#  pragma unroll
    for (int part = 0; part < parts; ++part)
      biases[i / width][part][i % width] = to_float(arguments.bias[product_column(problem, n, part)]);
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
#if phased
      if (place_of_row(problem, tile.batch, m) < 0) continue;
#else
      if (Problem::edge_m && m >= problem.m) continue;
#endif
      const Problem::Sum* sums =
          Rows::first() + (lane / Rows::lanes_n + row) * Rows::pitch + Rows::place(staged_n, 0);
#if scales == row_scales
      const float row_scale = arguments.scale_a[m];
#endif
#if bias == column
      const float own_bias = to_float(arguments.bias[m]);
#  pragma unroll
      for (int l = 0; l < parts * width; ++l) biases[0][l / width][l % width] = own_bias;
#endif
#pragma unroll
      for (int j = 0; j < Rows::rounds_n; ++j) {
        const int n = first_n + j * Rows::lanes_n * width;
        if (Problem::edge_n && n >= problem.n / parts) continue;
        Vector factors;
#pragma unroll
        for (int l = 0; l < parts * width; ++l) {
#if scales == tensor_scales
          factors[l / width][l % width] = tensor_scale;
#elif scales == row_scales
          factors[l / width][l % width] = row_scale * column_scales[j][l / width][l % width];
#elif scaled_columns
          factors[l / width][l % width] = column_scales[j][l / width][l % width];
#else
          factors[l / width][l % width] = 1.0f;
#endif
        }
#if bias == column
        constexpr int of_round = 0;
#else
        const int of_round = j;
#endif
        store_vector(arguments, problem, sums + Rows::place(j * Rows::lanes_n * width, 0), factors,
                     biases[of_round], tile, m, n);
      }
    }
  }
}
