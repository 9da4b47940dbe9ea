#pragma once
#include "cuda/activations.cuh"
// From a sum of products to an element of the result: functions of float, and of double for the reference.

// The share of z that stays. Of float it comes from exp2 and a reciprocal of the special function unit: with
// expf, erff, tanhf and a division, an epilogue with SiLU took a quarter of the time of a product of 4096
// rows, columns and terms on an H200, one with GELU 8 %.
__device__ __forceinline__ double normal_distribution(double z) {
  return 0.5 * (1 + erf(0.70710678118654752440 * z));
}
__device__ __forceinline__ float logistic(float z) { return reciprocal(1.0f + exp2_flushed(-log2_e * z)); }
__device__ __forceinline__ double logistic(double z) { return 1 / (1 + exp(-z)); }
__device__ __forceinline__ float tanh_distribution(float z) {
  return reciprocal(1.0f + exp2_flushed(-z * fmaf(z * z, tanh_cubic, tanh_linear)));
}
__device__ __forceinline__ double tanh_distribution(double z) {
  return 0.5 * (1 + tanh(0.79788456080286535588 * (z + 0.044715 * (z * z * z))));  // sqrt(2 / pi)
}

template <typename Number>
__device__ __forceinline__ Number activated(Number z) {
#if activation == relu
  return z < 0 ? Number{0} : z;  // NaN stays NaN
#elif activation == gelu
  return z * normal_distribution(z);
#elif activation == gelu_tanh
  return z * tanh_distribution(z);
#elif activation == silu
  return z * logistic(z);
#else
  return z;
#endif
}

// An output of the sum of its products, its bias and what it was before, of which those count that there are.
template <typename Number>
__device__ __forceinline__ Number finished(const Arguments& arguments, const Problem& problem, Number sum,
                                           float own_bias, Number before) {
  // Without products, alpha may be infinite; without alpha, products may be.
  Number z = arguments.alpha == 0.0f || problem.k == 0 ? Number{0} : arguments.alpha * sum;
#if bias
  z += own_bias;
#endif
  z = activated(z);
#if beta_nonzero
  if (arguments.beta != 0.0f) z += arguments.beta * before;
#endif
  return z;
}
