#pragma once
// How many registers the threads of a warpgroup may use (setmaxnreg, sm_90a): some give up what others take.
// A block begins with as many for each thread, by its launch bounds, which must be stated.

// Gives up all but so many, a multiple of 8. The warpgroup's threads call either together.
template <int count>
__device__ __forceinline__ void give_up_registers(int line = __builtin_LINE()) {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0, "24 to 256 registers, a multiple of 8");
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::set_registers(count, line);
#else
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count) : "memory");
#endif
}

// Takes so many, as soon as others have given up enough.
template <int count>
__device__ __forceinline__ void take_registers(int line = __builtin_LINE()) {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0, "24 to 256 registers, a multiple of 8");
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::set_registers(count, line);
#else
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count) : "memory");
#endif
}
