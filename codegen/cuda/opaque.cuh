#pragma once
// Hides from the compiler where a value comes from: it stays in its register, and addresses are formed from
// it by immediate offsets, rather than kept one by one or computed again in a loop.

template <typename T>
__device__ __forceinline__ void make_opaque(T& value) {
#ifndef AUTOTUNE_EMULATOR
  if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
}

// The same for each word of a vector; one of less than a word stays as it is.
template <typename Vector>
__device__ __forceinline__ void make_words_opaque(Vector& vector) {
  if constexpr (sizeof(Vector) % 4 == 0) {
#pragma unroll
    for (unsigned i = 0; i < sizeof(Vector) / 4; ++i) make_opaque(reinterpret_cast<unsigned*>(&vector)[i]);
  }
}

// A constant that the compiler does not know, in blocks of one thread along z: it stays in a register, where
// ptxas would load it anew for each use.
__device__ __forceinline__ unsigned kept_constant(unsigned value) { return value + threadIdx.z; }
