#pragma once
#if element_bytes == 1 || result == int8 || result == float8_e4m3fn || result == float8_e5m2
#  include "cuda/narrow.cuh"
#else
#  include "cuda/numbers.cuh"
#endif
#if result == int32
#  include "matmul/gemm/integer_result.cuh"
#endif
#include "matmul/gemm/finish.cuh"
// One thread computes one element of D, directly from global memory, in `Number`, and those of Z for it. The
// reference computes and stores double.

#if result != int32
template <typename To, typename Number>
__device__ __forceinline__ To to_result(Number value) {
  if constexpr (sizeof(To) == 8) {
#  if result == int8
    return value != value ? 0 : rint(value < -128 ? -128 : value > 127 ? 127 : value);
#  elif result == float8_e4m3fn || result == float8_e5m2
    constexpr double largest = Problem::largest;
    return value < -largest ? -largest : value > largest ? largest : value;
#  else
    return value;
#  endif
  } else {
#  if result == int8 || result == float8_e4m3fn || result == float8_e5m2
    return from_float_saturated<To>(value);
#  else
    return from_float<To>(value);
#  endif
  }
}

template <typename To, typename Number>
__device__ __forceinline__ void store_result(To& element, Number value) {
  element = to_result<To>(value);
}

#endif
template <int tile, typename Number, typename To>
__device__ __forceinline__ void gemm_naive(const Arguments& arguments, To* d) {
  const Problem problem(arguments);
  const int columns = problem.n / parts;  // of D
  const int tiles_m = (problem.m - 1u) / tile + 1, tiles_n = (columns - 1u) / tile + 1;
  const int m = blockIdx.x / tiles_n % tiles_m * tile + threadIdx.x / tile;
  const int n = blockIdx.x % tiles_n * tile + threadIdx.x % tile;
  const long long batch = blockIdx.x / tiles_n / tiles_m;
  if (m >= problem.m || n >= columns) return;

  const long long step_a = Problem::transpose_a ? problem.lda : 1;
  const long long step_b = Problem::transpose_b ? 1 : problem.ldb;
  const auto* a = arguments.a + batch * problem.stride_a + m * (Problem::transpose_a ? 1ll : problem.lda);
  Number sums[parts];
  for (int part = 0; part < parts; ++part) {
    const int column = product_column(problem, n, part);
    const auto* b =
        arguments.b + batch * problem.stride_b + column * (Problem::transpose_b ? problem.ldb : 1ll);
    Number sum = 0;
    for (int i = 0; i < problem.k; ++i) {
      Number term =
          static_cast<Number>(to_float(a[i * step_a])) * static_cast<Number>(to_float(b[i * step_b]));
#if scales == block_scales
      const long long blocks = (problem.k - 1u) / 128 + 1;
      term *= arguments.scale_a[m * blocks + i / 128] *
              static_cast<Number>(arguments.scale_b[column / 128 * blocks + i / 128]);
#endif
      sum += term;
    }
#if scales == tensor_scales
    sum *= arguments.scale_a[0] * static_cast<Number>(arguments.scale_b[0]);
#elif scales == row_scales
    sum *= arguments.scale_a[m] * static_cast<Number>(arguments.scale_b[column]);
#endif
    sums[part] = sum;
  }

  const long long offset = batch * problem.stride_d + m * problem.ldd + n;
#if result == int32
  d[offset] = finished_integer(arguments, problem, sums[0]);
#else
  Number z[parts];
  for (int part = 0; part < parts; ++part) {
    const int column = product_column(problem, n, part);
    float own_bias = 0.0f;
#  if bias == row
    own_bias = to_float(arguments.bias[column]);
#  elif bias == column
    own_bias = to_float(arguments.bias[m]);
#  endif
    z[part] = before_activation(arguments, problem, sums[part], own_bias);
#  if preactivation
    store_result(arguments.z[(batch * problem.m + m) * problem.n + column], z[part]);
#  endif
  }
  Number before = 0;
#  if beta_nonzero
  before = to_float(arguments.c[offset]);
#  endif
  store_result(d[offset], after_activation(arguments, z, before));
#endif
}
