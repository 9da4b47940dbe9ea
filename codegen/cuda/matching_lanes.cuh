#pragma once
// Which lanes of a warp have the same number. All lanes call it.

// The lanes that agree with the caller in one bit of a number.
template <int bit>
__device__ __forceinline__ unsigned agreeing_lanes(unsigned number) {
#ifdef AUTOTUNE_EMULATOR
  const bool is_set = number >> bit & 1;
  const unsigned lanes = __ballot_sync(0xffffffffu, is_set);
  return is_set ? lanes : ~lanes;
#else
  unsigned lanes;
  asm("{\n\t.reg .pred is_set;\n\t"
      "and.b32 %0, %1, %2;\n\t"
      "setp.ne.u32 is_set, %0, 0;\n\t"
      "vote.sync.ballot.b32 %0, is_set, 0xffffffff;\n\t"
      "@!is_set not.b32 %0, %0;\n\t}"
      : "=r"(lanes)
      : "r"(number), "n"(1u << bit));
  return lanes;
#endif
}

// The lanes that have the same number, of so many bits.
template <int bits>
__device__ __forceinline__ unsigned matching_lanes(unsigned number) {
  if constexpr (bits == 1) {
    return agreeing_lanes<0>(number);
  } else {
    return agreeing_lanes<bits - 1>(number) & matching_lanes<bits - 1>(number);
  }
}
