#pragma once
// Dynamic shared memory for tiles that must begin at multiples of up to 1024 bytes.

template <typename T>
__device__ __forceinline__ T* tile_memory() {
#ifdef AUTOTUNE_EMULATOR
  return static_cast<T*>(autotune_emulator::dynamic_shared(1024));
#else
  extern __shared__ __align__(1024) unsigned char tile_bytes[];
  return reinterpret_cast<T*>(tile_bytes);
#endif
}
