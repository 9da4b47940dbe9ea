#pragma once
// Loads from global memory. Unless they are `constant`, the thread that reads something may overwrite it
// later.

enum class StreamedLoad {
  cached,       // as usual
  streaming,    // L1 and L2 let go of it first
  no_allocate,  // L1 keeps none of it
  constant,     // reads what no thread writes during the launch
};

__device__ __forceinline__ uint4 load_no_allocate(const uint4* address) {
#ifdef AUTOTUNE_EMULATOR
  return *address;
#else
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
#endif
}

__device__ __forceinline__ uint2 load_no_allocate(const uint2* address) {
#ifdef AUTOTUNE_EMULATOR
  return *address;
#else
  uint2 v;
  asm volatile("ld.global.L1::no_allocate.v2.b32 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "l"(address)
               : "memory");
  return v;
#endif
}

// Less than 8 bytes are loaded as usual: neighbouring threads share a sector.
template <typename Bits>
__device__ __forceinline__ Bits load_no_allocate(const Bits* address) {
  return *address;
}

// `address` is a multiple of the bytes loaded.
template <StreamedLoad load, typename Bits>
__device__ __forceinline__ Bits load_streamed(const Bits* address) {
  if constexpr (load == StreamedLoad::streaming) {
    return __ldcs(address);
  } else if constexpr (load == StreamedLoad::no_allocate) {
    return load_no_allocate(address);
  } else if constexpr (load == StreamedLoad::constant) {
    return __ldg(address);
  } else {
    return *address;
  }
}
