#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
// `lanes` threads for each row, which read it twice. `Number` is what is computed with.

// What is written: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Number>
__device__ __forceinline__ void store(Number* target, double value) {
  *target = from_float<Number>(static_cast<float>(value));
}

template <int lanes, typename Number>
__device__ __forceinline__ void softmax_backward_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes, columns = row < problem.rows ? problem.columns : 0;
  const Problem::Element* y = arguments.y + row * problem.ldx;
  const Problem::Element* dy = arguments.dy + row * problem.ldx;
  double sum = 0, size = 0;
  for (int i = lane; i < columns; i += lanes) {
#if logarithm
    const double term = to_float(dy[i]);
#else
    const double term = static_cast<double>(to_float(y[i])) * to_float(dy[i]);
#endif
    sum += term;
    size += fabs(term);
  }
  sum = reduce_lanes<lanes>(sum, Sum());
  size = reduce_lanes<lanes>(size, Sum());
  for (int i = lane; i < columns; i += lanes) {
    const Number value = to_float(y[i]), g = to_float(dy[i]), scale = arguments.scale;
    const long long target = row * problem.ldd + i;
#if logarithm
    const bool masked = value == -infinity();
    const double power = exp(static_cast<double>(value));
    const double dx = masked ? 0 : g - power * sum;
    const double errors = masked ? 0 : fabs(g) + power * (1 + fabs(value)) * size;
#else
    const double dx = value * (g - sum);
    const double errors = fabs(value) * (fabs(g) + size);
#endif
    store(arguments.dx + target, scale * dx);
#if reference
    arguments.dx_scale[target] = fabs(scale) * (fabs(dx) + Problem::error_weight * errors);
#endif
  }
}
