#pragma once
#include "cuda/number_pairs.cuh"
#include "cuda/opaque.cuh"
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
#elif weights == int4 && spread_x
// As below, less a pair of the zero point, which is 8 where there are none.
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, unsigned zeros) {
  const unsigned codes = codes_of(vector, index);
#  if !zeros
  zeros = 0x00080008u;
#  endif
  Pairs result;
#  pragma unroll
  for (int i = 0; i < 4; ++i) {
#  if element_is_bfloat16
    const unsigned bits = codes >> 4 * i & kept_constant(0x000f000fu) | 0x43004300u;
    const unsigned offset = 0xc300c300u | zeros;
    const float step = 1.0f;
#  else
    const bool upper = i % 2 != 0;
    const unsigned bits = codes >> i / 2 * 8 & kept_constant(upper ? 0x00f000f0u : 0x000f000fu) | 0x64006400u;
    const unsigned offset = upper ? 0xd400d400u | zeros << 4 : 0xe400e400u | zeros;
    const float step = upper ? 0.0625f : 1.0f;
#  endif
    result.pairs[i] = fma_pair<Element>(bits, pair_of<Element>(step, step), offset);
  }
  return result;
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
    const unsigned bits = codes >> 4 * i & kept_constant(0x000f000fu) | 0x43004300u;
    const float base = -128.0f, step = 1.0f;
#  else
    const bool upper = i % 2 != 0;
    const unsigned bits = codes >> i / 2 * 8 & kept_constant(upper ? 0x00f000f0u : 0x000f000fu) | 0x64006400u;
    const float base = upper ? -64.0f : -1024.0f, step = upper ? 0.0625f : 1.0f;
#  endif
    const float offset = base - zero;
    result.pairs[i] = fma_pair<Element>(bits, pair_of<Element>(step, step), pair_of<Element>(offset, offset));
  }
  return result;
}
#elif weights == int8
// Codes become the last bits of 1024, to which 128 is added (float16). Those of bfloat16 are 7: the sign is
// subtracted, as 128 or 256.
#  if spread_x
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, unsigned) {
#  else
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, float) {
#  endif
  Pairs result;
#  pragma unroll
  for (int i = 0; i < chunk / 2; ++i) {
    const unsigned codes = codes_of(vector, (index * chunk + 2 * i) / 4);
    const unsigned one = pair_of<Element>(1.0f, 1.0f), bytes = i % 2 == 0 ? 0x4140u : 0x4342u;
#  if element_is_bfloat16
    const unsigned pair = __byte_perm(codes, 0u, bytes);
    result.pairs[i] = fma_pair<Element>(pair & kept_constant(0x007f007fu) | 0x43004300u, one,
                                        pair & kept_constant(0x00800080u) | 0xc300c300u);
#  else
    const unsigned pair = __byte_perm(codes ^ 0x80808080u, 0x64646464u, bytes);
    result.pairs[i] = fma_pair<Element>(pair, one, pair_of<Element>(-1152.0f, -1152.0f));
#  endif
  }
  return result;
}
#else
#  if spread_x
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, unsigned) {
#  else
__device__ __forceinline__ Pairs decoded_pairs(const Vector& vector, int index, float) {
#  endif
  Pairs result;
#  pragma unroll
  for (int i = 0; i < chunk / 2; ++i) {
    const unsigned pair = decoded_pair(vector, index * chunk + 2 * i);
#  if element_is_bfloat16
    result.pairs[i] = pair_of<Element>(first_of<float16>(pair), second_of<float16>(pair));
#  else
    result.pairs[i] = pair;
#  endif
  }
  return result;
}
#endif

// Puts the pair at `j` of some numbers, or a single number, where zeros were at `i`.
template <int count>
__device__ __forceinline__ void insert(Pairs& pairs, int i, const Packed<Element, count>& numbers, int j) {
  if constexpr (count == 1) {
    pairs.pairs[i / 2] |= static_cast<unsigned>(numbers.elements[0].bits) << i % 2 * 16;
  } else {
    Packed<unsigned, count / 2> words;
    words.bits = numbers.bits;
    pairs.pairs[i / 2] = words.elements[j / 2];
  }
}

// The first `left` elements of a chunk of x, in the order of decoded weights.
template <bool guarded>
__device__ __forceinline__ Pairs load_x_pairs(const Element* source, int left) {
  constexpr int step = Problem::width_x < chunk ? Problem::width_x : chunk;
  Pairs x = {};
#pragma unroll
  for (int i = 0; i < chunk; i += step) {
    if (!guarded || i + step <= left) {
#if shared_x
      const Packed<Element, step> part = *reinterpret_cast<const Packed<Element, step>*>(source + i);
#else
      const Packed<Element, step> part = load_global<step, false>(source + i);
#endif
#pragma unroll
      for (int j = 0; j < step; j += 2) insert(x, i + j, part, j);
    } else {
#pragma unroll
      for (int j = 0; j < step; ++j) {
#if shared_x
        if (i + j < left) insert(x, i + j, Packed<Element, 1>{source[i + j].bits}, 0);
#else
        if (i + j < left) insert(x, i + j, load_global<1, false>(source + i + j), 0);
#endif
      }
    }
  }
#if weights == int4
  Pairs reordered;
#  pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned first = x.pairs[i], second = x.pairs[i + 2];
    reordered.pairs[2 * i] = __byte_perm(first, second, 0x5410u);
    reordered.pairs[2 * i + 1] = __byte_perm(first, second, 0x7632u);
  }
  return reordered;
#else
  return x;
#endif
}
