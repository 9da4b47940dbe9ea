#pragma once
#include "matmul/gemm/plain_result.cuh"
// One element of D, of its sum in `Number`. The reference computes and stores double.

// `place` is that in D, and `filter` the number of its filter.
template <typename Number, typename To>
__device__ __forceinline__ void store_pixel(const Arguments& arguments, const Problem& problem, Number sum,
                                            long long place, long long filter, To* d) {
#if result == int32
  d[place] = finished_integer(arguments, problem, sum);
#else
#  if scaled_columns
  sum *= arguments.scale_b[filter];
#  endif
  float own_bias = 0;
  Number before = 0;
#  if bias
  own_bias = to_float(arguments.bias[filter]);
#  endif
#  if beta_nonzero
  before = to_float(arguments.c[place]);
#  endif
  d[place] = to_result<To>(finished(arguments, problem, sum, own_bias, before));
#endif
}
