#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
#include "rows/larger.cuh"
// Each row by `lanes` threads, which read it three times. `Number` is what is computed with.

__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Number>
__device__ __forceinline__ void store(Number* target, double value) {
  *target = from_float<Number>(static_cast<float>(value));
}

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }

#if reference
// The scale of an error: of its first part by the value, of its second by `errors`; 0 where none is allowed.
__device__ __forceinline__ double scale_of(double value, double errors, double weight) {
  return fabs(value) < infinity() ? fabs(value) + weight * errors : 0;
}
#endif

#if capped
template <typename Number>
__device__ __forceinline__ Number logit_of(const Arguments& arguments, Problem::Element x) {
  const double cap = arguments.softcap;
  return cap * tanh(to_float(x) / cap);
}
#else
template <typename Number>
__device__ __forceinline__ Number logit_of(const Arguments&, Problem::Element x) {
  return to_float(x);
}
#endif

// What a row's loss and its gradient follow from.
template <typename Number>
struct RowSums {
  Number max, sum, lse;
  double total, size;  // sums of the logits and of their absolute values
};

template <int lanes, typename Number>
__device__ __forceinline__ RowSums<Number> row_sums(const Arguments& arguments, const Problem::Element* x,
                                                    int lane, int columns) {
  Number max = -infinity();
  double total = 0, size = 0, sum = 0;  // sums of up to a whole row, one after the other
  for (int i = lane; i < columns; i += lanes) {
    const Number z = logit_of<Number>(arguments, x[i]);
    max = LargerOrNan()(max, z);
    total += z;
    size += fabs(static_cast<double>(z));
  }
  max = reduce_lanes<lanes>(max, LargerOrNan());
  for (int i = lane; i < columns; i += lanes) {
    sum += natural_power(logit_of<Number>(arguments, x[i]) - max);
  }
  sum = reduce_lanes<lanes>(sum, Sum());
  const bool infinite = max == infinity() || max == -infinity();
  return {max, static_cast<Number>(sum), static_cast<Number>(infinite ? max : max + log(sum)),
          reduce_lanes<lanes>(total, Sum()), reduce_lanes<lanes>(size, Sum())};
}

template <int lanes, typename Number>
__device__ __forceinline__ void cross_entropy_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / lanes;
  const int lane = thread % lanes;
  const bool exists = row < problem.rows;
  const long long target = exists ? arguments.target[row] : arguments.ignore_index;
  const bool ignored = target == arguments.ignore_index;
  const bool known = 0 <= target && target < problem.columns;
  const int columns = exists ? problem.columns : 0, counted = ignored ? 0 : columns;
  const Problem::Element* x = arguments.x + row * problem.ldx;
  const double nan = -infinity() + infinity();
  double smoothing = 0, lse_square = 0, cap = 0;
#if smoothed
  smoothing = arguments.label_smoothing;
#endif
#if z_loss
  lse_square = arguments.lse_square_scale;
#endif
#if capped
  cap = arguments.softcap;
#endif
#if saved
  const double lse = !exists ? 0.0 : arguments.lse[row] == infinity() ? nan : arguments.lse[row];
  const double base = lse, sum = 1;
#else
  const RowSums<Number> all = row_sums<lanes, Number>(arguments, x, lane, counted);
  const double lse = all.lse, base = all.max, sum = all.sum;
  const double hit = known ? logit_of<Number>(arguments, x[target]) : nan;
  if (exists && lane == 0) {
    const double log_sum = log(sum), mean = all.total / problem.columns - base;
    double loss = log_sum - (1 - smoothing) * (hit - base);
    if (smoothing != 0) loss -= smoothing * mean;
    if (lse_square != 0) loss += lse_square * lse * lse;
    store(arguments.loss + row, ignored ? 0 : loss);
#  if lse
    store(arguments.lse + row, ignored ? 0 : lse);
#  endif
#  if reference
    const double size = 1 + cap + fabs(log_sum) + fabs(hit - base);
    double of_mean = 0;  // not 0 · infinity, where a logit is infinite and no label is smoothed
    if (smoothing != 0) of_mean = smoothing * (fabs(base) + all.size / problem.columns);
    const double errors = size + of_mean + lse_square * lse * lse;
    arguments.loss_scale[row] = ignored ? 0 : scale_of(loss, errors, Problem::sums_weight);
#    if lse
    const double of_lse = 1 + cap + fabs(base) + fabs(log_sum);
    arguments.lse_scale[row] = ignored ? 0 : scale_of(lse, of_lse, Problem::sums_weight);
#    endif
#  endif
  }
#endif
#if gradient
#  if shared_gradient
  const double upstream = known ? arguments.dloss[0] : nan;
#  else
  const double upstream = known ? arguments.dloss[row] : nan;
#  endif
  double factor = 1;  // not 0 · infinity, where lse is infinite and does not count
  if (lse_square != 0) factor += 2 * lse_square * lse;
  for (int i = lane; i < columns; i += lanes) {
    const long long at = row * problem.ldd + i;
    const Number z = logit_of<Number>(arguments, x[i]);
    const double p = natural_power(static_cast<Number>(z - base)) / sum;
    const double slope = cap == 0 ? 1 : 1 - z / cap * (z / cap);
    const double less = (i == target ? 1 - smoothing : 0) + smoothing / problem.columns;
    const double result = upstream * (p * factor - less) * slope;
    store(arguments.d + at, ignored ? 0 : result);
#  if reference
    const double errors = fabs(upstream) * ((p + Problem::least) * (1 + cap) * fabs(factor) + less);
    arguments.d_scale[at] = ignored ? 0 : scale_of(result, errors, Problem::gradient_weight);
#  endif
  }
#endif
}
