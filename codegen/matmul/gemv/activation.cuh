#pragma once
// What becomes of an output: functions of float, and of double for the reference.

__device__ __forceinline__ float natural_power(float z) { return expf(z); }
__device__ __forceinline__ double natural_power(double z) { return exp(z); }
__device__ __forceinline__ float error_function(float z) { return erff(z); }
__device__ __forceinline__ double error_function(double z) { return erf(z); }
__device__ __forceinline__ float hyperbolic_tangent(float z) { return tanhf(z); }
__device__ __forceinline__ double hyperbolic_tangent(double z) { return tanh(z); }

template <typename Number>
__device__ __forceinline__ Number activated(Number z) {
#if activation == relu
  return z < 0 ? Number{0} : z;  // NaN stays NaN
#elif activation == gelu
  constexpr Number root_half = 0.70710678118654752440;
  return z * (Number{0.5} * (1 + error_function(root_half * z)));
#elif activation == gelu_tanh
  constexpr Number factor = 0.79788456080286535588, cubic = 0.044715;  // sqrt(2 / pi)
  return z * (Number{0.5} * (1 + hyperbolic_tangent(factor * (z + cubic * (z * z * z)))));
#elif activation == silu
  return z / (1 + natural_power(-z));
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
