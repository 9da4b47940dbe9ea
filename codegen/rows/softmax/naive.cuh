#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
#include "rows/larger.cuh"
// y = softmax(x / temperature) of each row by `lanes` threads, which read it three times.

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }

// What is written: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Result>
__device__ __forceinline__ void store(Result* target, double value) {
  *target = from_float<Result>(static_cast<float>(value));
}

// What errors of a logarithm are relative to.
__device__ __forceinline__ double scale_of(double logarithm, double error_weight) {
  const double size = fabs(logarithm);
  return size < infinity() ? size + error_weight * (1 + size) : 0;
}

// Columns of a row that count.
__device__ __forceinline__ int columns_of(const Arguments& arguments, const Problem& problem, long long row) {
  int count = problem.columns;
#if lengths
  count = min(max(arguments.lengths[row], 0), count);
#endif
#if causal
  const long long kept = row % problem.queries + arguments.causal_offset + 1;
  if (kept < count) count = kept < 0 ? 0 : static_cast<int>(kept);
#endif
  return count;
}

// `Number` is what is computed with.
template <int lanes, typename Number>
__device__ __forceinline__ void softmax_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / lanes;
  const int lane = thread % lanes;
  const bool exists = row < problem.rows;
  const int columns = exists ? problem.columns : 0;
  const int inside = exists ? columns_of(arguments, problem, row) : 0;
  const Problem::Element* x = arguments.x + row * problem.ldx;
#if mask
  const long long block = row / problem.queries, query = row % problem.queries;
  const Problem::MaskElement* mask =
      arguments.mask + (block / problem.heads * problem.queries + query) * problem.ldm;
#endif
#if added
  const Number temperature = 1;
  const float inverse = fmaxf(1.0f / arguments.temperature, 1.2e-38f);
#else
  const Number temperature = arguments.temperature;
#endif
  const auto logit = [&](int i) -> Number {
#if added
    return to_float(from_float<Problem::Element>(fmaf(to_float(x[i]), inverse, to_float(mask[i]))));
#elif mask
    return mask[i] ? to_float(x[i]) : -infinity();
#else
    return to_float(x[i]);
#endif
  };

  Number largest = -infinity();
  for (int i = lane; i < inside; i += lanes) largest = LargerOrNan()(largest, logit(i));
  largest = reduce_lanes<lanes>(largest, LargerOrNan());
#if lse || zero_rows
  const bool nothing = largest == -infinity();
#endif
#if zero_rows
  if (nothing) largest = 0;
#endif
  double sum = 0;  // sums of up to a whole row, one after the other
  for (int i = lane; i < inside; i += lanes) sum += natural_power((logit(i) - largest) / temperature);
  sum = reduce_lanes<lanes>(sum, Sum());
#if lse
  if (lane == 0 && columns > 0) {
    double logarithm = nothing ? -infinity() : infinity();
    if (!nothing && largest != infinity()) logarithm = largest / temperature + log(sum);
    store(arguments.lse + row, logarithm);
#  if reference
    arguments.lse_scale[row] = scale_of(logarithm, Problem::lse_error_weight);
#  endif
  }
#endif
#if zero_rows
  if (nothing) sum = infinity();
#endif
  for (int i = lane; i < columns; i += lanes) {
    const Number number = i < inside ? logit(i) : -infinity();
    const Number exponent = (number - largest) / temperature;
#if logarithm
    const double result = exponent - log(sum);
#else
    const double result = natural_power(exponent) / sum;
#endif
    const long long target = row * problem.ldy + i;
    store(arguments.y + target, result);
#if logarithm && reference
    arguments.y_scale[target] = scale_of(result, Problem::error_weight);
#endif
  }
}
