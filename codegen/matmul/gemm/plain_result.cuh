#pragma once
#if element_bytes == 1 || result == int8 || result == float8_e4m3fn || result == float8_e5m2
#  include "cuda/narrow.cuh"
#else
#  include "cuda/numbers.cuh"
#endif
#if result == int32
#  include "matmul/gemm/integer_result.cuh"
#endif
#include "epilogue/finish.cuh"
// One element of D, and those of Z for it, of sums in `Number`. The reference computes and stores double.

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
template <typename Number, typename To>
__device__ __forceinline__ void store_element(const Arguments& arguments, const Problem& problem,
                                              long long batch, int m, int n, Number (&sums)[parts], To* d) {
#if scales == tensor_scales
  for (Number& sum : sums) sum *= arguments.scale_a[0] * static_cast<Number>(arguments.scale_b[0]);
#elif scales == row_scales
  for (int part = 0; part < parts; ++part) {
    sums[part] *=
        arguments.scale_a[m] * static_cast<Number>(arguments.scale_b[product_column(problem, n, part)]);
  }
#endif
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
