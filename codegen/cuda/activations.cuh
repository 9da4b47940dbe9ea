#pragma once
#include "cuda/special_functions.cuh"
// What activations are made of.

// The distribution function of the standard normal distribution, F(x). F(-|x|) is 2^q(|x|), where q is a
// polynomial fitted to the weighted error of |x| F(-|x|), which is at most 2^-23 with its rounding errors.
__device__ __forceinline__ float normal_distribution(float x) {
  const float t = fabsf(x);
  float q = -1.9020266327242646e-6f;
  q = fmaf(q, t, 2.8056387236674565e-5f);
  q = fmaf(q, t, -1.314700930379331e-4f);
  q = fmaf(q, t, -2.720847260206938e-4f);
  q = fmaf(q, t, 7.245435379445553e-3f);
  q = fmaf(q, t, -5.2627623081207275e-2f);
  q = fmaf(q, t, -4.591621458530426e-1f);
  q = fmaf(q, t, -1.1511110067367554f);
  q = fmaf(q, t, -1.0f);
  const float tail = exp2_flushed(q);
  return x >= 0.0f ? 1.0f - tail : tail;
}

// gelu_tanh is z sigmoid(2 sqrt(2 / pi) (z + 0.044715 z^3)), whose sigmoid is 1 / (1 + 2^-(z (a + b z^2))).
constexpr float tanh_linear = 2 * 0.7978845608028654f * log2_e;
constexpr float tanh_cubic = 0.044715f * tanh_linear;
