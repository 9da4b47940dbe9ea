#pragma once
#include "cuda/numbers.cuh"
#if weights == fp8
#  include "cuda/float8.cuh"
#endif
#include "epilogue/activation.cuh"
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

#if weights != plain
// A weight: its code, less a zero point, times its scale.
template <typename Number>
__device__ __forceinline__ Number weight_at(const Arguments& arguments, const Problem& problem,
                                            long long batch, int n, int i) {
  const auto code = arguments.w[batch * problem.stride_w + n * problem.ldw + i / Problem::packed];
  const long long row = batch * problem.stride_scales + n / Problem::scale_rows * 1ll * problem.groups;
  long long group = row;
#  if group_size > 0
  group += i / Problem::group_size;
#  endif
#  if weights == int4
  int zero = 8;
#    if zeros
  zero = arguments.zeros[group];
#    endif
  const int number = (code >> i % 2 * 4 & 15) - zero;
#  elif weights == int8
  const int number = code;
#  else
  const float number = to_float(code);
#  endif
  return static_cast<Number>(to_float(arguments.scales[group])) * number;
}
#endif

template <typename Number, typename Element, typename Result>
__device__ __forceinline__ void gemv_naive(const Arguments& arguments, const Element* x, Result* y) {
  const Problem problem(arguments);
  const long long output = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int n = output % problem.n, vector = output / problem.n % Problem::m;
  const long long batch = output / problem.n / Problem::m;
  if (batch >= problem.batch) return;

#if weights == plain
  const long long step = Problem::along_k ? 1 : problem.ldw;
#endif
#if transpose_x
  x += batch * problem.stride_x + vector;
#else
  x += batch * problem.stride_x + vector * problem.ldx;
#endif
#if weights == plain
  const Element* w = arguments.w + batch * problem.stride_w + n * (Problem::along_k ? problem.ldw : 1ll);
#endif
  Number sum = 0;
#if transpose_x
  for (int i = 0; i < problem.k; ++i) {
    sum += static_cast<Number>(to_float(w[i * step])) * to_float(x[i * problem.ldx]);
  }
#elif weights == plain
  for (int i = 0; i < problem.k; ++i) sum += static_cast<Number>(to_float(w[i * step])) * to_float(x[i]);
#else
  for (int i = 0; i < problem.k; ++i) {
    sum += weight_at<Number>(arguments, problem, batch, n, i) * to_float(x[i]);
  }
#endif

#if transpose_y
  y += batch * problem.stride_y + n * problem.ldy + vector;
#else
  y += batch * problem.stride_y + vector * problem.ldy + n;
#endif
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
