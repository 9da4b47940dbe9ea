#pragma once
#include "cuda/number_pairs.cuh"
#include "cuda/packed.cuh"
#if cache != plain
#  include "cuda/narrow.cuh"
#endif
// Elements of a cache: numbers, or codes that scales make numbers of. Codes become float16, which has all of
// them: few instructions, and none rounds.

using Stored = Problem::Stored;

#if cache == fp8
// Pair `number` of four codes, the first one in the lowest byte, as two float16.
__device__ __forceinline__ unsigned pair_of_codes(unsigned codes, int number) {
#  if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 890
  unsigned pair;  // of a half of the register, which takes no shift
  if (number == 0) {
    asm("{ .reg .b16 first, second; mov.b32 {first, second}, %1; cvt.rn.f16x2.e4m3x2 %0, first; }"
        : "=r"(pair)
        : "r"(codes));
  } else {
    asm("{ .reg .b16 first, second; mov.b32 {first, second}, %1; cvt.rn.f16x2.e4m3x2 %0, second; }"
        : "=r"(pair)
        : "r"(codes));
  }
  return pair;
#  else
  return float16_pair(static_cast<unsigned short>(codes >> 16 * number));
#  endif
}
#elif cache == int8
// The same. With 128 added, a code is not negative, and the last bits of a float16 from 1024 on.
__device__ __forceinline__ unsigned pair_of_codes(unsigned codes, int number) {
  constexpr unsigned ones = 0x3c003c00u, minus_1152 = 0xe480e480u;
  const unsigned pair = __byte_perm(codes ^ 0x80808080u, 0x64646464u, number == 0 ? 0x4140 : 0x4342);
  return fma_pair<float16>(pair, ones, minus_1152);
}
#endif

template <int width>
__device__ __forceinline__ void stored_to_floats(float (&target)[width],
                                                 const Packed<Stored, width>& stored) {
#if cache != plain
  if constexpr (width % 4 == 0) {
    const auto* words = reinterpret_cast<const unsigned*>(&stored.bits);
#  pragma unroll
    for (int i = 0; i < width; i += 2) {
      const unsigned pair = pair_of_codes(words[i / 4], i / 2 % 2);
      target[i] = first_of<float16>(pair);
      target[i + 1] = second_of<float16>(pair);
    }
    return;
  }
#endif
  to_floats(target, stored.elements);
}
