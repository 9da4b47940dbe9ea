#pragma once
#include "cuda/numbers.cuh"
// Two 16-bit numbers in a register, the first one in its lower half.

template <typename Number>
__device__ __forceinline__ unsigned pair_of(float first, float second) {
  Number pair[2];
  pair_from_floats(pair, first, second);
  return pair[0].bits | static_cast<unsigned>(pair[1].bits) << 16;
}

template <typename Number>
__device__ __forceinline__ float first_of(unsigned pair) {
  return to_float(Number{static_cast<unsigned short>(pair)});
}
template <typename Number>
__device__ __forceinline__ float second_of(unsigned pair) {
  return to_float(Number{static_cast<unsigned short>(pair >> 16)});
}

// a·b + c of both numbers, each rounded once (bfloat16: sm_80 and newer).
template <typename Number>
__device__ __forceinline__ unsigned fma_pair(unsigned a, unsigned b, unsigned c) {
#ifdef AUTOTUNE_EMULATOR
  return pair_of<Number>(fmaf(first_of<Number>(a), first_of<Number>(b), first_of<Number>(c)),
                         fmaf(second_of<Number>(a), second_of<Number>(b), second_of<Number>(c)));
#else
  unsigned result;
  if constexpr (Number::largest > float16::largest) {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  } else {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  }
  return result;
#endif
}
