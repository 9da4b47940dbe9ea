#pragma once
#include "cuda/numbers.cuh"
#include "matmul/gemv/activation.cuh"
// A thread computes an output, and sums in `Number`. The reference computes and stores double.

template <typename Element>
__device__ __forceinline__ float to_number(Element value) {
  return to_float(value);
}
__device__ __forceinline__ double to_number(double value) { return value; }

template <typename Result, typename Number>
__device__ __forceinline__ Result to_result(Number value) {
  if constexpr (sizeof(Result) == 8) {
    return value;
  } else {
    return from_float<Result>(value);
  }
}

template <typename Number, typename Element, typename Result>
__device__ __forceinline__ void gemv_naive(const Arguments& arguments, const Element* x, Result* y) {
  const Problem problem(arguments);
  const long long output = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int n = output % problem.n, vector = output / problem.n % Problem::m;
  const long long batch = output / problem.n / Problem::m;
  if (batch >= problem.batch) return;

  const long long step = Problem::along_k ? 1 : problem.ldw;
  x += batch * problem.stride_x + vector * problem.ldx;
  const Element* w = arguments.w + batch * problem.stride_w + n * (Problem::along_k ? problem.ldw : 1ll);
  Number sum = 0;
  for (int i = 0; i < problem.k; ++i) sum += static_cast<Number>(to_float(w[i * step])) * to_float(x[i]);

  y += batch * problem.stride_y + vector * problem.ldy + n;
  float own_bias = 0.0f;
  Number before = 0;
#if bias
  own_bias = to_float(arguments.bias[n]);
#endif
#if beta_nonzero
  before = to_number(*y);
#endif
  *y = to_result<Result>(finished(arguments, problem, sum, own_bias, before));
}
