#pragma once
// Functions of float beside those of CUDA, whose largest errors are 2 units in the last place for expf,
// exp2f, rsqrtf and tanhf, and 1 for logf.

constexpr float log2_e = 1.4426950408889634f;

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

// 2^x by one instruction, with an error of at most 2 units in the last place. Subnormal results become 0.
__device__ __forceinline__ float exp2_flushed(float x) {
#ifdef AUTOTUNE_EMULATOR
  constexpr float smallest_normal = 1.17549435e-38f;
  const float result = exp2f(fabsf(x) < smallest_normal ? 0.0f : x);
  return result < smallest_normal ? 0.0f : result;
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}

// The larger and the smaller number; NaN if either is NaN. fmaxf and fminf return the other number then.
__device__ __forceinline__ float max_nan(float a, float b) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a > b || a != a ? a : b;
#endif
}
__device__ __forceinline__ float min_nan(float a, float b) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a < b || a != a ? a : b;
#endif
}
