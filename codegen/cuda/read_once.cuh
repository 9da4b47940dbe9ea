#pragma once
#include "cuda/packed.cuh"
// Loads from global memory that no thread writes during the launch, of what is read once: L1 keeps none of
// it. With `evict_first`, L2 lets go of it first (sm_80 and newer). `source` is a multiple of the bytes
// loaded.

#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned long long evict_first_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
#endif

template <bool evict_first>
__device__ __forceinline__ uint4 read_once(const uint4* address) {
#ifdef AUTOTUNE_EMULATOR
  return __ldg(address);
#else
  uint4 v;
#  if __CUDA_ARCH__ >= 800
  if constexpr (evict_first) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(address), "l"(evict_first_policy()));
    return v;
  }
#  endif
  asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(address));
  return v;
#endif
}

template <bool evict_first>
__device__ __forceinline__ uint2 read_once(const uint2* address) {
#ifdef AUTOTUNE_EMULATOR
  return __ldg(address);
#else
  uint2 v;
#  if __CUDA_ARCH__ >= 800
  if constexpr (evict_first) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
        : "=r"(v.x), "=r"(v.y)
        : "l"(address), "l"(evict_first_policy()));
    return v;
  }
#  endif
  asm("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(address));
  return v;
#endif
}

// Less than 8 bytes are loaded as usual: neighbouring threads share a sector.
template <bool evict_first, typename Bits>
__device__ __forceinline__ Bits read_once(const Bits* address) {
  return __ldg(address);
}

template <int width, bool evict_first, typename Element>
__device__ __forceinline__ Packed<Element, width> load_once(const Element* source) {
  Packed<Element, width> packed;
  packed.bits =
      read_once<evict_first>(reinterpret_cast<const typename Packed<Element, width>::Bits*>(source));
  return packed;
}
