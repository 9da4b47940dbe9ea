#pragma once
// Keys as unsigned numbers in the order of the sort, and the digits of these.

using Bits = Problem::Bits;        // of a key
using Ordered = Problem::Ordered;  // 32 or 64 bits

constexpr int bins = 1 << Problem::digit_bits;
constexpr Ordered sign_bit = static_cast<Ordered>(1) << (Problem::key_bits - 1);
constexpr Ordered all_bits = sign_bit | (sign_bit - 1);

// Smaller for what comes first. -0 and 0 are equal, and so are all NaN, which are the largest.
__device__ __forceinline__ Ordered ordered(Bits bits) {
  Ordered key = bits;
#if floating
  constexpr Ordered infinity = (sign_bit - 1) >> Problem::mantissa_bits << Problem::mantissa_bits;
  const Ordered magnitude = key & (sign_bit - 1);
  key ^= key & sign_bit ? all_bits : sign_bit;
  if (magnitude == 0) key = sign_bit;
  if (magnitude > infinity) key = all_bits;
#elif signed_keys
  key ^= sign_bit;
#endif
#if descending
  key ^= all_bits;
#endif
#if cut
  key &= (static_cast<Ordered>(1) << Problem::end_bit) - 1;
#endif
  return key;
}

// That of `digit_bits` bits from bit `shift` on.
__device__ __forceinline__ unsigned digit_of(Ordered key, int shift) {
  return static_cast<unsigned>(key >> shift) & (bins - 1);
}
