#pragma once
#include "cuda/numbers.cuh"
// float8_e4m3 as a plain struct, and its conversions, which are exact.

struct float8_e4m3 {  // 4 bits of exponent, 3 of fraction: largest number 448, no infinity, NaN 0x7f and 0xff
  unsigned char bits;
};

// The bits of a float16 of the same value, without an instruction for it: exponents are offset by 7 and
// by 15.
__device__ __forceinline__ unsigned float16_bits(unsigned e4m3) {
  const unsigned size = e4m3 & 0x7f;
  if (size == 0x7f) return 0x7fff;
  const float16 offset{static_cast<unsigned short>((e4m3 & 0x80) << 8 | size << 7)};
  return from_float<float16>(256.0f * to_float(offset)).bits;
}

// Two numbers as two float16, the first one in the lower half: one instruction from sm_89 on.
__device__ __forceinline__ unsigned float16_pair(unsigned short e4m3_pair) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 890
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(e4m3_pair));
  return pair;
#else
  return float16_bits(e4m3_pair & 0xffu) | float16_bits(e4m3_pair >> 8) << 16;
#endif
}

__device__ __forceinline__ float to_float(float8_e4m3 value) {
  return to_float(float16{static_cast<unsigned short>(float16_pair(value.bits))});
}
