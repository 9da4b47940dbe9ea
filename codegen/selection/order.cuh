#pragma once
#include "cuda/numbers.cuh"
// The total order of a row's elements: by value, where NaN is above all numbers and -0 equals 0, and of equal
// values by column, the lower one first.

using Element = Problem::Element;

#if element_bits == 32
__device__ __forceinline__ unsigned ascending_key(Element element) {
  const unsigned bits = __float_as_uint(element + 0.0f);  // -0 becomes 0
  const unsigned flipped = static_cast<unsigned>(static_cast<int>(bits) >> 31) | 0x80000000u;
  return element != element ? 0xfffffffeu : bits ^ flipped;
}
constexpr unsigned all_ones = 0xffffffffu;
#else
__device__ __forceinline__ unsigned ascending_key(Element element) {
#  if dtype == float16
  constexpr unsigned infinity_bits = 0x7c00u;
#  else
  constexpr unsigned infinity_bits = 0x7f80u;
#  endif
  const unsigned bits = element.bits == 0x8000u ? 0u : element.bits;
  const unsigned flipped = bits & 0x8000u ? 0xffffu : 0x8000u;
  return (bits & 0x7fffu) > infinity_bits ? 0xfffeu : bits ^ flipped;
}
constexpr unsigned all_ones = 0xffffu;
#endif

// The larger, the earlier an element comes; never 0.
#if largest
__device__ __forceinline__ unsigned key_of(Element element) { return ascending_key(element); }
#else
__device__ __forceinline__ unsigned key_of(Element element) { return all_ones ^ ascending_key(element); }
#endif

// The number of a key; NaN if it is no number's.
__device__ __forceinline__ float value_of(unsigned key) {
  constexpr unsigned sign = all_ones ^ all_ones >> 1;
#if largest
  const unsigned ascending = key;
#else
  const unsigned ascending = all_ones ^ key;
#endif
  const unsigned bits = ascending & sign ? ascending ^ sign : all_ones ^ ascending;
#if element_bits == 32
  return __uint_as_float(bits);
#else
  return to_float(Element{static_cast<unsigned short>(bits)});
#endif
}

// Every element passes whose key is at least that of a bound, at the price of one comparison. Few others do,
// but all if the bound is NaN.
#if largest
__device__ __forceinline__ bool passes(Element element, float bound) { return !(to_float(element) < bound); }
#else
__device__ __forceinline__ bool passes(Element element, float bound) { return !(to_float(element) > bound); }
#endif

// An element's key and its column in one number: the larger, the earlier. 0 stands for no element.
using Entry = unsigned long long;

__device__ __forceinline__ Entry entry_of(unsigned key, int column) {
  return static_cast<Entry>(key) << 32 | ~static_cast<unsigned>(column);
}
__device__ __forceinline__ unsigned key_of_entry(Entry entry) { return static_cast<unsigned>(entry >> 32); }
__device__ __forceinline__ int column_of(Entry entry) {
  return static_cast<int>(~static_cast<unsigned>(entry));
}
