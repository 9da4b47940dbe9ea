#pragma once
// Exponentials that are the same bits everywhere: see numbers.py. No product is fused with a sum.

__device__ __forceinline__ float multiplied_added(float a, float b, float c) {
  return __fadd_rn(__fmul_rn(a, b), c);
}

// e^x of numbers up to 0; 0 below -87.
__device__ __forceinline__ float exponential(float x) {
  if (!(x >= -87.0f)) return x != x ? x : 0.0f;
  const float power = static_cast<float>(rint(static_cast<double>(__fmul_rn(x, 1.44269504f))));
  const float high = __fadd_rn(x, -__fmul_rn(power, 0.693359375f));
  const float rest = __fadd_rn(high, -__fmul_rn(power, -2.12194440e-4f));
  float sum = 1.9875691500e-4f;
  sum = multiplied_added(sum, rest, 1.3981999507e-3f);
  sum = multiplied_added(sum, rest, 8.3334519073e-3f);
  sum = multiplied_added(sum, rest, 4.1665795894e-2f);
  sum = multiplied_added(sum, rest, 1.6666665459e-1f);
  sum = multiplied_added(sum, rest, 5.0000001201e-1f);
  sum = __fadd_rn(multiplied_added(sum, __fmul_rn(rest, rest), rest), 1.0f);
  return __fmul_rn(sum, __int_as_float((static_cast<int>(power) + 127) << 23));
}

__device__ __forceinline__ float sigmoid(float x) {
  const float power = exponential(-fabsf(x));
  return (x >= 0.0f ? 1.0f : power) / __fadd_rn(1.0f, power);
}
