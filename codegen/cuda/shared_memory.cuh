#pragma once
// Dynamic shared memory of the block: the one way that kernels get at shared memory.

template <typename T>
__device__ __forceinline__ T* dynamic_shared() {
#ifdef AUTOTUNE_EMULATOR
  return static_cast<T*>(autotune_emulator::dynamic_shared());
#else
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<T*>(shared_bytes);
#endif
}
