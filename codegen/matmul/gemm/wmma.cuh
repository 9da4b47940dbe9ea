#pragma once
#include "cuda/tile_memory.cuh"
#include "cuda/wmma.cuh"
#if element == float32
#  include "cuda/tensor_core_tf32.cuh"
#endif
#include "matmul/gemm/plain_result.cuh"
// A warp computes 16×16 elements of D by wmma. It copies so many rows of op(A) and columns of op(B) to shared
// memory as they lie, a few terms at a time. What is outside of a matrix becomes zero there.

constexpr int wmma_side = 16, wmma_sums = 8;  // rows and columns of D; of them, elements of a lane

template <typename Type>
struct WmmaTiles {
  typename Type::Number a[wmma_side * Type::terms], b[Type::terms * wmma_side];
  typename Type::Sum sums[wmma_side * wmma_side];
};

// What tensor cores multiply in place of an element.
template <typename Number, typename From>
__device__ __forceinline__ Number wmma_number(From value) {
#if element == float32
  return __uint_as_float(round_to_tf32(__float_as_uint(value)));
#elif element == float8_e4m3fn || element == float8_e5m2
  return from_float<Number>(to_float(value));  // float16 holds it exactly
#else
  return value;
#endif
}

// Copies 16 rows of op(A), or columns of op(B), from `first` on, and `terms` along k from `first_k` on.
// `line_of` says which line of the matrix as stored is the i-th of them.
template <int terms, bool along_k, typename Number, typename From, typename LineOf>
__device__ __forceinline__ void copy_wmma_tile(Number* tile, const From* matrix, long long row_stride,
                                               int first_k, int end_k, int count, const LineOf& line_of) {
  constexpr int row = along_k ? terms : wmma_side;  // the tile's
  for (int i = threadIdx.x; i < wmma_side * terms; i += 32) {
    const int across = along_k ? i / row : i % row, k = first_k + (along_k ? i % row : i / row);
    Number copied{};
    if (across < count && k < end_k) {
      const long long line = line_of(across);
      copied = wmma_number<Number>(matrix[along_k ? line * row_stride + k : k * row_stride + line]);
    }
    tile[i] = copied;
  }
}

// Adds the products of terms from `first_k` to `end_k`, for the part `part` of each column of D, to `sums`.
template <typename Type, typename Number>
__device__ __forceinline__ void add_wmma_products(const Arguments& arguments, const Problem& problem,
                                                  long long batch, int first_m, int first_n, int part,
                                                  int first_k, int end_k, Number (&sums)[wmma_sums]) {
  constexpr bool a_along_k = !Problem::transpose_a, b_along_k = Problem::transpose_b;
  auto& tiles = *tile_memory<WmmaTiles<Type>>();
  const auto* a = arguments.a + batch * problem.stride_a;
  const auto* b = arguments.b + batch * problem.stride_b;
  typename Type::Sum fragment[wmma_sums] = {};
  for (int k = first_k; k < end_k; k += Type::terms) {
    __syncwarp();  // what is in the tiles was read
    copy_wmma_tile<Type::terms, a_along_k>(tiles.a, a, problem.lda, k, end_k, problem.m - first_m,
                                           [&](int i) { return first_m + i; });
    copy_wmma_tile<Type::terms, b_along_k>(tiles.b, b, problem.ldb, k, end_k, problem.n / parts - first_n,
                                           [&](int i) { return product_column(problem, first_n + i, part); });
    __syncwarp();
    wmma_multiply_tiles<Type, a_along_k, b_along_k>(fragment, tiles.a, tiles.b);
  }
  wmma_store_tile<Type>(tiles.sums, fragment);
  __syncwarp();
  for (int i = 0; i < wmma_sums; ++i) {
    Number factor = 1;
#if scales == block_scales
    const int number = i * 32 + threadIdx.x, m = first_m + number / wmma_side;
    const int column = product_column(problem, first_n + number % wmma_side, part);
    const long long blocks = (problem.k - 1u) / 128 + 1;
    if (m < problem.m && column < problem.n) {
      factor = arguments.scale_a[m * blocks + first_k / 128] *
               arguments.scale_b[column / 128 * blocks + first_k / 128];
    }
#endif
    sums[i] += factor * tiles.sums[i * 32 + threadIdx.x];
  }
}

template <typename Type, typename Number, typename To>
__device__ __forceinline__ void gemm_wmma(const Arguments& arguments, To* d) {
  const Problem problem(arguments);
  const int columns = problem.n / parts;  // those of D
  const int tiles_m = (problem.m - 1u) / wmma_side + 1, tiles_n = (columns - 1u) / wmma_side + 1;
  const int first_m = blockIdx.x / tiles_n % tiles_m * wmma_side;
  const int first_n = blockIdx.x % tiles_n * wmma_side;
  const long long batch = blockIdx.x / tiles_n / tiles_m;
#if scales == block_scales
  constexpr int most = 128;
#else
  const int most = problem.k;
#endif
  Number products[parts][wmma_sums] = {};
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    for (int k = 0; k < problem.k; k += most) {
      const int end = problem.k - k < most ? problem.k : k + most;
      add_wmma_products<Type>(arguments, problem, batch, first_m, first_n, part, k, end, products[part]);
    }
  }
#pragma unroll
  for (int i = 0; i < wmma_sums; ++i) {
    const int number = i * 32 + threadIdx.x;
    const int m = first_m + number / wmma_side, n = first_n + number % wmma_side;
    if (m >= problem.m || n >= columns) continue;
    Number sums[parts];
    for (int part = 0; part < parts; ++part) sums[part] = products[part][i];
    store_element(arguments, problem, batch, m, n, sums, d);
  }
}
