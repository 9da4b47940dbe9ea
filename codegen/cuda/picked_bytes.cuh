#pragma once

// Four bytes of two words, each by its number: four bits of the lower half of `numbers`, below 8. The
// intrinsic __byte_perm is the same, but takes one more instruction to see to that.
__device__ __forceinline__ unsigned picked_bytes(unsigned low, unsigned high, unsigned numbers) {
#ifdef AUTOTUNE_EMULATOR
  return __byte_perm(low, high, numbers);
#else
  unsigned picked;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(low), "r"(high), "r"(numbers));
  return picked;
#endif
}
