#pragma once

// `value` if `word` is at least `threshold` and nothing else speaks against it, or else 0; then `bit` is set
// in `bits`, too. One comparison for both: ptxas 13.0 compares again for the bit.
__device__ __forceinline__ float kept_with_bit(float value, unsigned word, unsigned threshold, bool dropped,
                                               unsigned bit, unsigned& bits) {
#ifdef AUTOTUNE_EMULATOR
  if (word < threshold || dropped) return 0.0f;
  bits |= bit;
  return value;
#else
  float result;
  asm("{\n\t.reg .pred kept;\n\t"
      "setp.eq.u32 kept, %5, 0;\n\t"
      "setp.ge.and.u32 kept, %3, %4, kept;\n\t"
      "selp.f32 %0, %2, 0f00000000, kept;\n\t"
      "@kept or.b32 %1, %1, %6;\n\t}"
      : "=f"(result), "+r"(bits)
      : "f"(value), "r"(word), "r"(threshold), "r"(static_cast<unsigned>(dropped)), "r"(bit));
  return result;
#endif
}
