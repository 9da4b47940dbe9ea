#pragma once  // Of a vector's elements: their maximum, and the sum of powers.

__device__ __forceinline__ float largest_of(const float (&x)[Schedule::vector_width], float largest) {
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) largest = max_nan(largest, x[i]);
  return largest;
}

__device__ __forceinline__ float sum_of_powers(const float (&x)[Schedule::vector_width], float max,
                                               float factor) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) sum += exp2_flushed(factor * (x[i] - max));
  return sum;
}
