#pragma once
#include "cuda/vector.cuh"
#include "epilogue/activation.cuh"

// Stores `count` elements of D from their sums; `filter` is the number of the first one's filter in D.
template <int count>
__device__ __forceinline__ void store_finished(const Arguments& arguments, const Problem& problem,
                                               const float* sums, long long pixel, int filter) {
  const long long offset = pixel * problem.ldd + filter;
  alignas(16) float before[count] = {}, elements[count];
#if beta_nonzero
  copy_vector<count>(before, arguments.c + offset);
#endif
#pragma unroll
  for (int i = 0; i < count; ++i) {
    float own_bias = 0.0f;
#if bias
    own_bias = arguments.bias[filter + i];
#endif
    elements[i] = finished(arguments, problem, sums[i], own_bias, before[i]);
  }
  copy_vector<count>(arguments.d + offset, elements);
}
