#pragma once
#include "epilogue/activation.cuh"
// From a sum of products to an element of D, and which sums each column of D depends on.

#if gate
constexpr int parts = 2;  // a gate and its factor
#else
constexpr int parts = 1;
#endif

// The column of the product for part `part` of column `n` of D.
__device__ __forceinline__ int product_column(const Problem& problem, int n, int part) {
#if gate == halves
  return n + part * (problem.n / 2);
#elif gate
  return 2 * n + part;
#else
  return n;
#endif
}

// The element of Z: a sum of products and its bias, of which those count that there are.
template <typename Number>
__device__ __forceinline__ Number before_activation(const Arguments& arguments, const Problem& problem,
                                                    Number sum, float own_bias) {
  // Without products, alpha may be infinite; without alpha, products may be.
  Number z = arguments.alpha == 0.0f || problem.k == 0 ? Number{0} : arguments.alpha * sum;
#if bias
  z += own_bias;
#endif
  return z;
}

// The element of D, of those of Z, and what C is there.
template <typename Number>
__device__ __forceinline__ Number after_activation(const Arguments& arguments, const Number (&z)[parts],
                                                   Number before) {
  Number result = activated(z[0]);
#if gate
  result *= z[1];
#endif
#if beta_nonzero
  if (arguments.beta != 0.0f) result += arguments.beta * before;
#endif
  return result;
}
