#pragma once
// Words of 4 or 8 bytes in global memory by which a block hands data to other blocks: what its thread wrote
// before a releasing store, and what a barrier put before that, may be read after the acquiring load that
// finds the stored value.

template <typename Word>
__device__ __forceinline__ Word load_acquire(const Word* address) {
#ifdef AUTOTUNE_EMULATOR
  return autotune_emulator::load_acquire(address);
#else
  Word value;
  if constexpr (sizeof(Word) == 8) {
    asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  } else {
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  }
  return value;
#endif
}

template <typename Word>
__device__ __forceinline__ void store_release(Word* address, Word value) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_release(address, value);
#else
  if constexpr (sizeof(Word) == 8) {
    asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
  } else {
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
  }
#endif
}
