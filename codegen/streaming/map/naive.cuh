#pragma once
#include "cuda/numbers.cuh"
#if narrow
#  include "cuda/narrow.cuh"
#endif
#include "streaming/map/functions.cuh"
// y = (f(x + bias) u + r) scale, or its gradients, by a thread for each result.

// In double precision, as functions.cuh has them in single precision.
__device__ __forceinline__ double sigmoid_of(double z) { return 1 / (1 + exp(-z)); }

constexpr double tanh_inner = 1.5957691216057308, tanh_third = 0.044715;  // 2 sqrt(2 / pi)

// What a function multiplies its argument by.
__device__ __forceinline__ double share_of(double z) {
#if function == gelu
  constexpr double root_half = 0.70710678118654752440;
  return 0.5 * (1 + erf(root_half * z));
#elif function == gelu_tanh
  return sigmoid_of(tanh_inner * (z + tanh_third * (z * z * z)));
#elif function == quick_gelu
  return sigmoid_of(1.702 * z);
#else
  return sigmoid_of(z);
#endif
}

__device__ __forceinline__ double result_of(double z) {
#if function == gelu || function == gelu_tanh || function == quick_gelu || function == silu
  return z * share_of(z);
#elif function == relu
  return z <= 0 ? 0.0 : z;
#elif function == relu2
  return z <= 0 ? 0.0 : z * z;
#elif function == sigmoid
  return sigmoid_of(z);
#elif function == tanh
  return tanh(z);
#elif function == exp
  return exp(z);
#else
  return z;
#endif
}

__device__ __forceinline__ double gradient_of(double z, double gradient) {
#if function == gelu
  constexpr double density = 0.39894228040143267794;
  return gradient * (share_of(z) + z * (density * exp(-0.5 * z * z)));
#elif function == gelu_tanh
  const double s = share_of(z);
  return gradient * (s + z * s * (1 - s) * (tanh_inner * (1 + 3 * tanh_third * z * z)));
#elif function == quick_gelu
  const double s = share_of(z);
  return gradient * (s + 1.702 * z * s * (1 - s));
#elif function == silu
  const double s = share_of(z);
  return gradient * (s + z * s * (1 - s));
#elif function == relu
  return z <= 0 ? 0.0 : gradient;
#elif function == relu2
  return gradient * (z <= 0 ? 0.0 : 2 * z);
#elif function == sigmoid
  const double s = sigmoid_of(z);
  return gradient * (s * (1 - s));
#elif function == tanh
  const double t = tanh(z);
  return gradient * (1 - t * t);
#elif function == exp
  return gradient * exp(z);
#else
  return gradient;
#endif
}

template <bool saturate, typename Result, typename Number>
__device__ __forceinline__ void store_result(Result* y, Number number) {
  if constexpr (sizeof(Result) == 8) {
    *y = number;
  } else if constexpr (saturate) {
    *y = from_float_saturated<Result>(static_cast<float>(number));
  } else {
    *y = from_float<Result>(static_cast<float>(number));
  }
}

// `Number` is what is computed with.
template <typename Number, typename Result>
__device__ __forceinline__ void map_naive(const Arguments& arguments, Result* y) {
  const Problem problem(arguments);
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / problem.columns, column = thread % problem.columns;
  if (row >= problem.rows) return;
  constexpr int pairs = Problem::pairs;
  const auto* x = arguments.x + row * problem.ldx + pairs * column;
  float argument = to_float(x[0]);
#if bias
  argument += to_float(arguments.bias[column]);
#endif
  const Number z = argument;
#if gate == separate
  const Number u = to_float(arguments.u[row * problem.ldu + column]);
#elif gate == halves
  const Number u = to_float(x[problem.columns]);
#elif gate == interleaved
  const Number u = to_float(x[1]);
#endif
  y += row * problem.ldy;
#if backward
  const Number g = to_float(arguments.g[row * problem.ldg + column]);
#  if gate == none
  store_result<false>(y + column, gradient_of(z, g));
#  else
  store_result<false>(y + pairs * column, gradient_of(z, g * u));
#    if gate == separate
  store_result<false>(y + problem.rows * problem.ldy + column, result_of(z) * g);
#    elif gate == halves
  store_result<false>(y + problem.columns + column, result_of(z) * g);
#    else
  store_result<false>(y + pairs * column + 1, result_of(z) * g);
#    endif
#  endif
#else
  Number result = result_of(z);
#  if gate != none
  result *= u;
#  endif
#  if residual
  result += to_float(arguments.r[row * problem.ldr + column]);
#  endif
#  if scaled
  result *= *arguments.scale;
#  endif
#  if reference && saturate
  constexpr double most = Problem::largest;  // what is beyond it counts as it, and NaN as NaN
  result = result > most ? most : result < -most ? -most : result;
#  endif
  store_result<Problem::saturate>(y + column, result);
#endif
}
