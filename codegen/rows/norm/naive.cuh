#pragma once
#if quantized
#  include "cuda/narrow.cuh"
#endif
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
// Each row by `lanes` threads, which read it three times. `Number` is what is computed with.

// What is written for an element: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Number>
__device__ __forceinline__ void store(Number* target, double value) {
  *target = from_float<Number>(static_cast<float>(value));
}

#if quantized && !reference
__device__ __forceinline__ void store(Problem::Result* target, double value) {
  *target = from_float_saturated<Problem::Result>(static_cast<float>(value));
}
#endif

#if quantized
// NaN if either is.
struct LargerOrNaN {
  __device__ __forceinline__ double operator()(double a, double b) const { return a > b || a != a ? a : b; }
};
#endif

#if residual
// Rounded to the elements' type, and stored.
__device__ __forceinline__ Problem::Element element_of(const Arguments& arguments, long long index) {
  const auto a = to_float(arguments.x[index]), b = to_float(arguments.residual[index]);
  return from_float<Problem::Element>(__fadd_rn(a, b));
}
#else
__device__ __forceinline__ Problem::Element element_of(const Arguments& arguments, long long index) {
  return arguments.x[index];
}
#endif

#if reference
// The scale of an error: of its first part by the value, of its second by `errors`.
__device__ __forceinline__ double scale_of(double value, double errors, double weight) {
  return fabs(value) + weight * errors;
}
#endif

template <int lanes, typename Number>
__device__ __forceinline__ void norm_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / lanes;
  const int lane = thread % lanes;
  const int columns = row < problem.rows ? problem.columns : 0;
  const long long first = row * problem.ldx;

  Number origin = 0, shift = 0;
#if centered
  if (columns > 0) origin = to_float(element_of(arguments, first));
  double sum = 0;  // sums of up to a whole row, one after the other
  for (int i = lane; i < columns; i += lanes) sum += to_float(element_of(arguments, first + i)) - origin;
  shift = reduce_lanes<lanes>(sum, Sum()) / problem.columns;
#endif
  double squares = 0;
  for (int i = lane; i < columns; i += lanes) {
    const Number difference = to_float(element_of(arguments, first + i)) - origin - shift;
    squares += static_cast<double>(difference) * difference;
  }
  const double variance = reduce_lanes<lanes>(squares, Sum()) / problem.columns;
  const Number rstd = 1 / sqrt(variance + static_cast<double>(arguments.eps));
#if reference
  const double condition = 1 + rstd * fabs(shift);
#endif
#if statistics
  if (lane == 0 && columns > 0) {
#  if centered
    store(arguments.mean + row, origin + shift);
#  endif
    store(arguments.rstd + row, rstd);
#  if reference && centered
    arguments.mean_scale[row] =
        scale_of(origin + shift, fabs(shift) + sqrt(variance), Problem::statistics_weight);
#  endif
#  if reference
    arguments.rstd_scale[row] = scale_of(rstd, condition * rstd, Problem::statistics_weight);
#  endif
  }
#endif
  const auto result_of = [&](int i, Number& normal, Number& factor, Number& bias) {
    normal = (to_float(element_of(arguments, first + i)) - origin - shift) * rstd;
    factor = 1, bias = 0;
#if weighted
    factor = to_float(arguments.weight[i]) + static_cast<Number>(arguments.weight_offset);
#endif
#if biased
    bias = to_float(arguments.bias[i]);
#endif
    return normal * factor + bias;
  };
#if quantized
  double largest = 0, uncertain = 0;
  for (int i = lane; i < columns; i += lanes) {
    Number normal, factor, bias;
    const double size = fabs(result_of(i, normal, factor, bias));
    largest = largest > size || largest != largest ? largest : size;
#  if reference
    const double errors = condition * (fabs(normal) + Problem::centered) * fabs(factor) + fabs(bias);
    uncertain = uncertain > errors || uncertain != uncertain ? uncertain : errors;
#  endif
  }
  largest = reduce_lanes<lanes>(largest, LargerOrNaN());
  uncertain = reduce_lanes<lanes>(uncertain, LargerOrNaN()) / Problem::largest;
  const double scale = largest / Problem::largest;
  if (lane == 0 && columns > 0) {
    store(arguments.scale + row, scale);
#  if reference
    arguments.scale_scale[row] = scale_of(scale, uncertain, Problem::statistics_weight);
#  endif
  }
#endif
  for (int i = lane; i < columns; i += lanes) {
    Number normal, factor, bias;
    const Number result = result_of(i, normal, factor, bias);
    const long long target = row * problem.ldy + i;
#if residual
    // After all lanes have read: the sum may be the residual.
    arguments.sum[first + i] = element_of(arguments, first + i);
#endif
#if reference
    const double errors = condition * (fabs(normal) + Problem::centered) * fabs(factor) + fabs(bias);
#endif
#if quantized
    double units = largest == 0 ? 0 : result / scale;
#  if integer
    if (units != units) units = 0;
#  endif
    store(arguments.y + target, units);
#  if reference
    double error = largest == 0 ? 0 : (errors + fabs(units) * uncertain) / scale;
#    if integer
    if (largest != largest) error = 0;
    arguments.y_scale[target] = error;
#    else
    arguments.y_scale[target] = scale_of(units, error, Problem::error_weight);
#    endif
#  endif
#else
    store(arguments.y + target, result);
#  if reference
    arguments.y_scale[target] = scale_of(result, errors, Problem::error_weight);
#  endif
#endif
  }
}
