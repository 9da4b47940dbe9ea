#pragma once
// Products of whole numbers of 16 and of 8 bits.

// The sum of two 16-bit numbers times the lower two of four bytes, or the upper two. The intrinsic __dp2a_lo
// is the same, but NVRTC 13.5 does not compile it with --Ofast-compile.
template <bool upper>
__device__ __forceinline__ unsigned two_products(unsigned pair, unsigned bytes) {
#ifdef AUTOTUNE_EMULATOR
  const unsigned both = upper ? bytes >> 16 : bytes;
  return (pair & 0xffff) * (both & 0xff) + (pair >> 16) * (both >> 8 & 0xff);
#else
  unsigned sum;
  if constexpr (upper) {
    asm("dp2a.hi.u32.u32 %0, %1, %2, 0;" : "=r"(sum) : "r"(pair), "r"(bytes));
  } else {
    asm("dp2a.lo.u32.u32 %0, %1, %2, 0;" : "=r"(sum) : "r"(pair), "r"(bytes));
  }
  return sum;
#endif
}
