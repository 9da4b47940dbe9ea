#pragma once
// What tensor copies and stores read of a tensor in global memory (sm_90 and newer).

// A member of `struct Arguments`, which the entry takes as `const __grid_constant__ Arguments`; it is defined
// there.
struct TensorMap;

// Fetches a map ahead of the first copy by it.
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
#endif
}
