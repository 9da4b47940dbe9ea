#pragma once
// Barriers of some warps of a block, by number: 1 to 15, for 0 is that of `__syncthreads`. `threads` is a
// multiple of 32 and counts all who wait or arrive; whole warps do either.

// Waits until all have come; what they did before is known to all who wait.
__device__ __forceinline__ void named_barrier(int number, int threads, int line = __builtin_LINE()) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::named_barrier(number, threads, true, line);
#else
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
}

// Comes without waiting.
__device__ __forceinline__ void named_barrier_arrive(int number, int threads, int line = __builtin_LINE()) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::named_barrier(number, threads, false, line);
#else
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
}
