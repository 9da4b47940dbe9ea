#pragma once
#include "cuda/math.cuh"
// Functions of float by the special function unit.

// 1 / x with an error of at most 1 unit in the last place. Subnormal numbers count as 0, infinity gives 0.
__device__ __forceinline__ float reciprocal(float x) {
#ifdef AUTOTUNE_EMULATOR
  return autotune_emulator::inexact(autotune_emulator::Function::reciprocal, x, 1);
#else
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}
