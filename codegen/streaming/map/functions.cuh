#pragma once
#include "cuda/activations.cuh"
// The function of a map, and its derivative. NaN stays NaN, and minus infinity times 0 is NaN, as in PyTorch.

// The sigmoid that a function multiplies its argument by, or is, is 1 / (1 + 2^-exponent).
__device__ __forceinline__ float exponent_of(float z) {
#if function == gelu_tanh
  return z * fmaf(z * z, tanh_cubic, tanh_linear);
#elif function == quick_gelu
  return (1.702f * log2_e) * z;
#else
  return log2_e * z;
#endif
}

__device__ __forceinline__ float sigmoid_of(float z) {
  return reciprocal(1.0f + exp2_flushed(-exponent_of(z)));
}

// The sigmoid and what it lacks to 1, which its difference from 1 would be too coarse for; of NaN, both are
// numbers. A sigmoid below 2^-126 is 0: what 2^-126 makes of z near -3e38 is not.
__device__ __forceinline__ float2 sigmoids_of(float z) {
  const float exponent = fminf(-exponent_of(z), 126.0f);
  const float power = exp2_flushed(exponent);
  const float s = reciprocal(1.0f + power);
  return {exponent < 126.0f ? s : 0.0f, power * s};
}

__device__ __forceinline__ float result_of(float z) {
#if function == gelu
  return z * normal_distribution(z);
#elif function == gelu_tanh || function == quick_gelu || function == silu
  return z * sigmoid_of(z);
#elif function == relu
  return max_nan(z, 0.0f);
#elif function == relu2
  const float positive = max_nan(z, 0.0f);
  return positive * positive;
#elif function == sigmoid
  return sigmoid_of(z);
#elif function == tanh
  return tanhf(z);
#elif function == exp
  return expf(z);
#else
  return z;
#endif
}

// The gradient of z by that of its result.
__device__ __forceinline__ float gradient_of(float z, float gradient) {
#if function == gelu
  const float density = 0.3989422804014327f * exp2_flushed((-0.5f * log2_e) * (z * z));
  return gradient * fmaf(z, density, normal_distribution(z));
#elif function == gelu_tanh
  const float2 s = sigmoids_of(z);
  const float slope = fmaf(fminf(z * z, 1e30f), 3 * tanh_cubic / log2_e, tanh_linear / log2_e);
  return gradient * fmaf(z * s.x * s.y, slope, s.x);
#elif function == quick_gelu
  const float2 s = sigmoids_of(z);
  return gradient * fmaf(z * s.x, 1.702f * s.y, s.x);  // 1.702 z may be infinite
#elif function == silu
  const float2 s = sigmoids_of(z);
  return gradient * fmaf(z * s.x, s.y, s.x);
#elif function == relu
  return z <= 0.0f ? 0.0f : gradient;
#elif function == relu2
  return gradient * (2.0f * max_nan(z, 0.0f));
#elif function == sigmoid
  const float s = sigmoid_of(z);
  return gradient * (s * (1.0f - s));
#elif function == tanh
  const float t = tanhf(z);
  return gradient * fmaf(-t, t, 1.0f);
#elif function == exp
  return gradient * expf(z);
#else
  return gradient;
#endif
}
