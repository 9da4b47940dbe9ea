#pragma once
#include "cuda/number_pairs.cuh"
#if weights == plain
#  include "matmul/gemv/weights.cuh"
#else
#  include "matmul/gemv/codes.cuh"
#endif
// Chunks of x and of W as pairs of 16-bit numbers, as tensor cores take them. What codes stand for is exact.

#if weights == plain
constexpr int terms = width;  // weights of a vector
constexpr int chunk = terms < 8 ? terms : 8;
#endif

struct Pairs {
  unsigned pairs[chunk / 2];
};

// The chunk of that index.
template <int count>
__device__ __forceinline__ Pairs pairs_at(const Packed<Element, count>& numbers, int index) {
  Packed<unsigned, count / 2> words;
  words.bits = numbers.bits;
  Pairs result;
#pragma unroll
  for (int i = 0; i < chunk / 2; ++i) result.pairs[i] = words.elements[index * (chunk / 2) + i];
  return result;
}

#if weights == plain
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, float) {
  return pairs_at(vector, index);
}
#elif weights == int4
// Codes become the last bits of 1024 and 64 (float16) or 128 (bfloat16): in pairs of the codes i and i + 4,
// which stand 16 bits apart.
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, float zero) {
  const unsigned codes = codes_of(vector, index);
  Pairs result;
#  pragma unroll
  for (int i = 0; i < 4; ++i) {
#  if element_is_bfloat16
    const unsigned bits = codes >> 4 * i & 0x000f000fu | 0x43004300u;
    const float base = -128.0f, step = 1.0f;
#  else
    const bool upper = i % 2 != 0;
    const unsigned bits = codes >> i / 2 * 8 & (upper ? 0x00f000f0u : 0x000f000fu) | 0x64006400u;
    const float base = upper ? -64.0f : -1024.0f, step = upper ? 0.0625f : 1.0f;
#  endif
    const float offset = base - zero;
    result.pairs[i] = fma_pair<Element>(bits, pair_of<Element>(step, step), pair_of<Element>(offset, offset));
  }
  return result;
}
#else
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, float) {
  float w[chunk];
  decode(w, vector, index, 0.0f);
  Pairs result;
#  pragma unroll
  for (int i = 0; i < chunk / 2; ++i) result.pairs[i] = pair_of<Element>(w[2 * i], w[2 * i + 1]);
  return result;
}
#endif

// The first `left` elements of a chunk of x, in the order of decoded weights.
template <bool guarded>
__device__ __forceinline__ Pairs load_x_pairs(const Element* source, int left, bool there) {
  constexpr int step = Problem::width_x < chunk ? Problem::width_x : chunk;
  Packed<Element, chunk> x;
#pragma unroll
  for (int i = 0; i < chunk; i += step) {
    Packed<Element, step> part;
#pragma unroll
    for (int j = 0; j < step; ++j) part.elements[j] = Element{};
    if (there && (!guarded || i + step <= left)) {
      part = load_global<step, false>(source + i);
    } else if (guarded && there) {
#pragma unroll
      for (int j = 0; j < step; ++j) {
        if (i + j < left) part.elements[j] = source[i + j];
      }
    }
#pragma unroll
    for (int j = 0; j < step; ++j) x.elements[i + j] = part.elements[j];
  }
  Pairs result = pairs_at(x, 0);
#if weights == int4
  const Pairs read = result;
#  pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned first = read.pairs[i], second = read.pairs[i + 2];
    result.pairs[2 * i] = first & 0xffffu | second << 16;
    result.pairs[2 * i + 1] = first >> 16 | second & 0xffff0000u;
  }
#endif
  return result;
}
