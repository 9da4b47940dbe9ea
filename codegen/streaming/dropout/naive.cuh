#pragma once
#include "cuda/numbers.cuh"
#include "streaming/dropout/dropping.cuh"
// A thread computes an element, or the eight elements of a byte of the mask.

constexpr int elements_per_thread = Problem::packed_mask ? 8 : 1;

__device__ __forceinline__ bool dropout_element(const Arguments& arguments, const Dropping& dropping,
                                                long long index) {
  const Problem problem(arguments);
  const long long row = index / problem.columns, column = index % problem.columns;
  const bool kept = dropping.keeps(dropping.word(index));
  float value = to_float(arguments.x[row * problem.ldx + column]);
#if bias
  value = __fadd_rn(value, to_float(arguments.bias[column]));
#endif
  value = dropping.applied(value, kept);
#if residual
  value = __fadd_rn(value, to_float(arguments.r[row * problem.ldr + column]));
#endif
  arguments.y[row * problem.ldy + column] = from_float<Problem::Element>(value);
  return kept;
}

__device__ __forceinline__ void dropout_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const Dropping dropping(arguments);
  const long long elements = problem.rows * problem.columns;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long first = thread * elements_per_thread;
  unsigned kept = 0;
  for (int i = 0; i < elements_per_thread && first + i < elements; ++i) {
    kept |= static_cast<unsigned>(dropout_element(arguments, dropping, first + i)) << i;
  }
#if stored_mask
  if (first < elements) arguments.mask[thread] = static_cast<unsigned char>(kept);
#endif
}
