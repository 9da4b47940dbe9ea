#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
// A warp for each row, which leaves its statistics in the workspace, and then a thread for each column.
// `Number` is what is computed with.

struct RowStatistics {
  double origin;  // what is subtracted from x first, and then `mean`
  double mean;
  double rstd;
};

// What is written: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Number>
__device__ __forceinline__ void store(Number* target, double value) {
  *target = from_float<Number>(static_cast<float>(value));
}

// dy times weight.
template <typename Number>
__device__ __forceinline__ Number weighed(const Arguments& arguments, long long index, int column) {
  const Number dy = to_float(arguments.dy[index]);
#if weighted
  return dy * (to_float(arguments.weight[column]) + static_cast<Number>(arguments.weight_offset));
#else
  return dy;
#endif
}

#if centered
// What is subtracted from x first: the saved mean, or else the first element.
__device__ __forceinline__ double first_origin(const Arguments& arguments, long long row, long long first) {
#  if saved
  return arguments.mean[row];
#  else
  return to_float(arguments.x[first]);
#  endif
}
#endif

template <typename Number>
__device__ __forceinline__ void backward_rows(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32, columns = row < problem.rows ? problem.columns : 0;
  const long long first = row * problem.ldx;
  double origin = 0, mean = 0, mean_g = 0;
#if centered
  if (columns > 0) origin = first_origin(arguments, row, first);
  double sum = 0, sum_g = 0;
  for (int i = lane; i < columns; i += 32) {
    sum += to_float(arguments.x[first + i]) - origin;
    sum_g += weighed<Number>(arguments, first + i, i);
  }
#  if !saved
  mean = reduce_lanes<32>(sum, Sum()) / problem.columns;
#  endif
  mean_g = reduce_lanes<32>(sum_g, Sum()) / problem.columns;
#endif
  double squares = 0, products = 0;
  for (int i = lane; i < columns; i += 32) {
    const double centered = to_float(arguments.x[first + i]) - origin - mean;
    squares += centered * centered;
    products += centered * weighed<Number>(arguments, first + i, i);
  }
#if saved
  const double rstd = columns > 0 ? arguments.rstd[row] : 0.0;
#else
  const double variance = reduce_lanes<32>(squares, Sum()) / problem.columns;
  const double rstd = 1 / sqrt(variance + static_cast<double>(arguments.eps));
#endif
  const double slope = rstd * (reduce_lanes<32>(products, Sum()) / problem.columns);
#if weighted || biased
  if (lane == 0 && columns > 0) {
    static_cast<RowStatistics*>(arguments.workspace)[row] = {origin, mean, rstd};
  }
#endif
#if reference
  double mean_size = 0, slope_size = 0;
  for (int i = lane; i < columns; i += 32) {
    const double normal = (to_float(arguments.x[first + i]) - origin - mean) * rstd;
    const double size = fabs(weighed<double>(arguments, first + i, i));
    mean_size += size;
    slope_size += size * (fabs(normal) + Problem::centered);
  }
  mean_size = Problem::centered * (reduce_lanes<32>(mean_size, Sum()) / problem.columns);
  slope_size = reduce_lanes<32>(slope_size, Sum()) / problem.columns;
#endif
  for (int i = lane; i < columns; i += 32) {
    const double normal = (to_float(arguments.x[first + i]) - origin - mean) * rstd;
    const double g = weighed<Number>(arguments, first + i, i);
    const double dx = rstd * (g - mean_g - normal * slope);
    const long long target = row * problem.ldd + i;
    store(arguments.dx + target, dx);
#if reference
    const double errors = fabs(g) + mean_size + (fabs(normal) + Problem::centered) * slope_size;
    const double condition = 1 + rstd * fabs(mean);
    arguments.dx_scale[target] = fabs(dx) + Problem::error_weight * (rstd * condition * errors);
#endif
  }
}

#if weighted || biased
template <typename Number>
__device__ __forceinline__ void backward_columns(const Arguments& arguments) {
  const Problem problem(arguments);
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= problem.columns) return;
  const RowStatistics* statistics = static_cast<const RowStatistics*>(arguments.workspace);
  double dw = 0, db = 0, dw_size = 0, db_size = 0;
  for (long long row = 0; row < problem.rows; ++row) {
    const RowStatistics& found = statistics[row];
    const double x = to_float(arguments.x[row * problem.ldx + column]);
    const double dy = to_float(arguments.dy[row * problem.ldx + column]);
    const double normal = (x - found.origin - found.mean) * found.rstd;
    const double condition = 1 + found.rstd * fabs(found.mean);
    dw += dy * normal;
    db += dy;
    dw_size += fabs(dy) * (fabs(normal) + Problem::centered) * condition;
    db_size += fabs(dy);
  }
#  if weighted
  store(arguments.dw + column, dw);
#  endif
#  if biased
  store(arguments.db + column, db);
#  endif
#  if weighted && reference
  arguments.dw_scale[column] = fabs(dw) + Problem::sums_weight * dw_size;
#  endif
#  if biased && reference
  arguments.db_scale[column] = fabs(db) + Problem::sums_weight * db_size;
#  endif
}
#endif
