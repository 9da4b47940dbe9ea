#pragma once
// 16-bit floating-point numbers as plain structs, and their conversions from and to float. They hold bits and
// have no arithmetic: a kernel computes in float. Conversions round to nearest, ties to even; overflow gives
// an infinity, and a NaN stays a NaN, though not the same one.
//
// float8_e4m3 (largest number 448, no infinity) and float8_e5m2 (57344) are not here yet: their conversions
// are instructions from sm_89 on.

struct float16 {  // 5 bits of exponent, 10 of fraction: unit roundoff 2^-11, largest number 65504
  unsigned short bits;
  static constexpr float largest = 65504.0f;
};
struct bfloat16 {  // 8 bits of exponent, 7 of fraction: unit roundoff 2^-8, the range of float
  unsigned short bits;
  static constexpr float largest = 3.3895313892515355e38f;
};

__device__ __forceinline__ float to_float(float value) { return value; }

__device__ __forceinline__ float to_float(float16 value) {
#ifdef AUTOTUNE_EMULATOR
  return autotune_emulator::float_of_float16(value.bits);
#else
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#endif
}

__device__ __forceinline__ float to_float(bfloat16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

// Bits of the bfloat16 next to a float, for devices without an instruction for it.
__device__ __forceinline__ unsigned short round_to_bfloat16(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;  // the NaN that the instruction gives
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// `Number` is float, float16 or bfloat16.
template <typename Number>
__device__ __forceinline__ Number from_float(float value);

template <>
__device__ __forceinline__ float from_float<float>(float value) {
  return value;
}

template <>
__device__ __forceinline__ float16 from_float<float16>(float value) {
#ifdef AUTOTUNE_EMULATOR
  return {autotune_emulator::float16_of_float(value)};
#else
  float16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#endif
}

template <>
__device__ __forceinline__ bfloat16 from_float<bfloat16>(float value) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  bfloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
  return {round_to_bfloat16(value)};
#endif
}

// What is too large, infinities included, becomes the largest number of its sign.
template <typename Number>
__device__ __forceinline__ Number from_float_saturated(float value) {
  constexpr float largest = Number::largest;
  return from_float<Number>(value > largest ? largest : value < -largest ? -largest : value);
}

// Two at once: one instruction from sm_80 on.
template <typename Number>
__device__ __forceinline__ void pair_from_floats(Number* pair, float first, float second) {
  pair[0] = from_float<Number>(first);
  pair[1] = from_float<Number>(second);
}

#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ void pair_from_floats<float16>(float16* pair, float first, float second) {
  asm("{ .reg .b32 pair; cvt.rn.f16x2.f32 pair, %3, %2; mov.b32 {%0, %1}, pair; }"
      : "=h"(pair[0].bits), "=h"(pair[1].bits)
      : "f"(first), "f"(second));
}
template <>
__device__ __forceinline__ void pair_from_floats<bfloat16>(bfloat16* pair, float first, float second) {
  asm("{ .reg .b32 pair; cvt.rn.bf16x2.f32 pair, %3, %2; mov.b32 {%0, %1}, pair; }"
      : "=h"(pair[0].bits), "=h"(pair[1].bits)
      : "f"(first), "f"(second));
}
#endif

// Arrays, such as the elements of a vector that was loaded at once.
template <int count, typename Number>
__device__ __forceinline__ void to_floats(float (&target)[count], const Number (&source)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) target[i] = to_float(source[i]);
}

template <int count, typename Number>
__device__ __forceinline__ void from_floats(Number (&target)[count], const float (&source)[count]) {
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) pair_from_floats(target + i, source[i], source[i + 1]);
  if constexpr (count % 2 != 0) target[count - 1] = from_float<Number>(source[count - 1]);
}
