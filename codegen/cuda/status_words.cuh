#pragma once
// Words of 8 or 16 bytes in global memory in which a block leaves a number for other blocks, together with a
// mark that says whether it is there. Both are stored and loaded at once, so no order of other accesses is
// asked for (PTX ISA: accesses of 16 bytes are single ones as of sm_70).

template <typename Number>
struct StatusWord {  // aligned to its size in memory
  Number number;
  unsigned mark;
};

template <typename Number>
union StatusBits {
  StatusWord<Number> word;
  unsigned long long bits[sizeof(StatusWord<Number>) / 8];
};

template <typename Number>
__device__ __forceinline__ StatusWord<Number> load_status(const StatusWord<Number>* address) {
#ifdef AUTOTUNE_EMULATOR
  return autotune_emulator::load_relaxed(address);
#else
  StatusBits<Number> status;
  if constexpr (sizeof(Number) == 8) {
    asm volatile("{ .reg .b128 word; ld.relaxed.gpu.global.b128 word, [%2]; mov.b128 {%0, %1}, word; }"
                 : "=l"(status.bits[0]), "=l"(status.bits[1])
                 : "l"(address)
                 : "memory");
  } else {
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(status.bits[0]) : "l"(address) : "memory");
  }
  return status.word;
#endif
}

template <typename Number>
__device__ __forceinline__ void store_status(StatusWord<Number>* address, StatusWord<Number> word) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_relaxed(address, word);
#else
  StatusBits<Number> status;
  status.word = word;
  if constexpr (sizeof(Number) == 8) {
    asm volatile(
        "{ .reg .b128 word; mov.b128 word, {%1, %2}; st.relaxed.gpu.global.b128 [%0], word; }" ::"l"(address),
        "l"(status.bits[0]), "l"(status.bits[1])
        : "memory");
  } else {
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(address), "l"(status.bits[0]) : "memory");
  }
#endif
}

// Stores a word over one that a block which waits may have found: that block computes the same from either.
template <typename Number>
__device__ __forceinline__ void replace_status(StatusWord<Number>* address, StatusWord<Number> word) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::replace_relaxed(address, word);
#else
  store_status(address, word);
#endif
}
