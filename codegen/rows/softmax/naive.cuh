#pragma once
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
// y = softmax(x / temperature) of each row by `lanes` threads, which read it three times.

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }

// `lengths` is null where all columns count. `Number` is what is computed with.
template <int lanes, typename Number, typename Element, typename Result>
__device__ __forceinline__ void softmax_naive(const Arguments& arguments, const Element* x, Result* y,
                                              const int* lengths) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = thread / lanes;
  const int lane = thread % lanes;
  const bool exists = row < arguments.rows;
  const int columns = exists ? arguments.columns : 0;
  const int inside = lengths && exists ? min(max(lengths[row], 0), columns) : columns;
  const Number temperature = arguments.temperature;
  x += row * arguments.ldx;
  y += row * arguments.ldy;

  Number largest = -infinity();
  for (int i = lane; i < inside; i += lanes) largest = Max()(largest, static_cast<Number>(to_float(x[i])));
  largest = reduce_lanes<lanes>(largest, Max());
  double sum = 0;  // of up to a whole row, one after the other
  for (int i = lane; i < inside; i += lanes) sum += natural_power((to_float(x[i]) - largest) / temperature);
  sum = reduce_lanes<lanes>(sum, Sum());
  for (int i = lane; i < columns; i += lanes) {
    const Number number = i < inside ? to_float(x[i]) : -infinity();
    const double result = natural_power((number - largest) / temperature) / sum;
    if constexpr (sizeof(Result) == 8) {
      y[i] = result;
    } else {
      y[i] = from_float<Result>(result);
    }
  }
}
