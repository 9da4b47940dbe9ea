#pragma once
#include "cuda/numbers.cuh"
// Two neighbouring 16-bit numbers as the word that they are in memory: what moves by words stays in words,
// which ptxas does not find out by itself.

__device__ __forceinline__ float2 floats_of_pair(unsigned pair, bfloat16) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}
__device__ __forceinline__ float2 floats_of_pair(unsigned pair, float16) {
  return {to_float(float16{static_cast<unsigned short>(pair)}),
          to_float(float16{static_cast<unsigned short>(pair >> 16)})};
}

// One instruction from sm_80 on.
__device__ __forceinline__ unsigned pair_of_floats(float first, float second, float16) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
  return pair;
#else
  return from_float<float16>(first).bits | static_cast<unsigned>(from_float<float16>(second).bits) << 16;
#endif
}
__device__ __forceinline__ unsigned pair_of_floats(float first, float second, bfloat16) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
  return pair;
#else
  return from_float<bfloat16>(first).bits | static_cast<unsigned>(from_float<bfloat16>(second).bits) << 16;
#endif
}
