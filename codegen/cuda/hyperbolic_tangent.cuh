#pragma once
#include "cuda/math.cuh"
// tanh by the special function unit.

// With an error of at most 2^-11 of the result (sm_75 and newer).
__device__ __forceinline__ float rough_tanh(float x) {
#ifdef AUTOTUNE_EMULATOR
  return autotune_emulator::inexact(autotune_emulator::Function::tanh, x, 1 << 12);
#else
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}
