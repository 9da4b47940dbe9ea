#pragma once
#include "cuda/number_pairs.cuh"
#if cache != plain
#  include "cuda/narrow.cuh"
#endif
// Elements of a cache: numbers, or codes that scales make numbers of.

using Stored = Problem::Stored;

#if cache == fp8
// Two codes, the first one in the lower half, as two numbers.
template <typename Number>
__device__ __forceinline__ unsigned pair_of_codes(unsigned codes) {
  const unsigned pair = float16_pair(static_cast<unsigned short>(codes));
  if constexpr (Number::largest == float16::largest) {
    return pair;
  } else {
    return pair_of<Number>(first_of<float16>(pair), second_of<float16>(pair));
  }
}
#elif cache == int8
// The same. A code becomes a float as the last bits of 2^23, to which 128 is added so that none is negative.
template <typename Number>
__device__ __forceinline__ unsigned pair_of_codes(unsigned codes) {
  const unsigned positive = codes ^ 0x8080u;
  float numbers[2];
#  pragma unroll
  for (unsigned i = 0; i < 2; ++i)
    numbers[i] = __uint_as_float(__byte_perm(positive, 0x4b000000u, 0x7650u | i)) - 8388736.0f;
  return pair_of<Number>(numbers[0], numbers[1]);
}
#endif
