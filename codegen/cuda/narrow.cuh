#pragma once
#include "cuda/float8.cuh"
// Results of 8 bits: float8_e4m3, float8_e5m2 and signed char, rounded once.

struct float8_e5m2 {  // the upper half of a float16: largest number 57344
  unsigned char bits;
};

__device__ __forceinline__ float to_float(float8_e5m2 value) {
  return to_float(float16{static_cast<unsigned short>(value.bits << 8)});
}
__device__ __forceinline__ float to_float(signed char value) { return value; }

// The number of so many bits of fraction next to a float of this size, ties to even, as the bits of a format
// whose exponents have no end.
template <int fraction, int bias>
__device__ __forceinline__ unsigned round_to_narrow(float size) {
  constexpr unsigned smallest_normal = (128u - bias) << 23;
  const unsigned bits = __float_as_uint(size);
  if (bits < smallest_normal) {  // a multiple of the last bit of this number
    constexpr unsigned aligner = (128u - bias + 23 - fraction) << 23;
    return __float_as_uint(size + __uint_as_float(aligner)) - aligner;
  }
  constexpr int dropped = 23 - fraction;
  const unsigned up = (1u << (dropped - 1)) - 1 + (bits >> dropped & 1u);
  return (bits + up - ((127u - bias) << 23)) >> dropped;
}

// A float8 by its format: what is beyond the bits `overflow` becomes them, NaN becomes 0x7f.
template <int fraction, int bias, unsigned overflow, typename Number>
__device__ __forceinline__ Number round_to_float8(float value) {
  const unsigned size = round_to_narrow<fraction, bias>(fabsf(value));
  const unsigned sign = __float_as_uint(value) >> 24 & 0x80u;
  const unsigned bits = value != value ? 0x7fu : size < overflow ? size : overflow;
  return Number{static_cast<unsigned char>(sign | bits)};
}

// What is too large becomes the largest number of its sign.
template <>
__device__ __forceinline__ float8_e4m3 from_float_saturated<float8_e4m3>(float value) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return float8_e4m3{static_cast<unsigned char>(pair)};
#else
  return round_to_float8<3, 7, 0x7e, float8_e4m3>(value);
#endif
}

template <>
__device__ __forceinline__ float8_e5m2 from_float_saturated<float8_e5m2>(float value) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return float8_e5m2{static_cast<unsigned char>(pair)};
#else
  return round_to_float8<2, 15, 0x7b, float8_e5m2>(value);
#endif
}

// What is too large becomes NaN: from 464 on, which lies between 448 and what would come next.
template <>
__device__ __forceinline__ float8_e4m3 from_float<float8_e4m3>(float value) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 890
  return fabsf(value) <= 464.0f ? from_float_saturated<float8_e4m3>(value) : float8_e4m3{0x7f};
#else
  return round_to_float8<3, 7, 0x7f, float8_e4m3>(value);
#endif
}

// What is too large becomes an infinity: from 61440 on.
template <>
__device__ __forceinline__ float8_e5m2 from_float<float8_e5m2>(float value) {
  return round_to_float8<2, 15, 0x7c, float8_e5m2>(value);
}

// From -128 to 127; NaN becomes 0.
__device__ __forceinline__ float clamped_to_int8(float value) {
  return value != value ? 0.0f : fminf(fmaxf(value, -128.0f), 127.0f);
}

// Towards 0.
template <>
__device__ __forceinline__ signed char from_float<signed char>(float value) {
  return static_cast<signed char>(static_cast<int>(clamped_to_int8(value)));
}

// To the nearest whole number, ties to even.
template <>
__device__ __forceinline__ signed char from_float_saturated<signed char>(float value) {
  constexpr float aligner = 12582912.0f;  // whose last bit is worth 1
  return static_cast<signed char>(__float_as_int(clamped_to_int8(value) + aligner) - __float_as_int(aligner));
}
