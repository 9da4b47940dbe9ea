#pragma once
// Elements that move together: one access of 1, 2, 4, 8 or 16 bytes.

template <int bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using Type = unsigned char;
};
template <>
struct BitsOf<2> {
  using Type = unsigned short;
};
template <>
struct BitsOf<4> {
  using Type = unsigned int;
};
template <>
struct BitsOf<8> {
  using Type = uint2;
};
template <>
struct BitsOf<16> {
  using Type = uint4;
};

template <typename Element, int width>
union Packed {
  using Bits = typename BitsOf<width * sizeof(Element)>::Type;
  Bits bits;
  Element elements[width];
};

// Loads from global memory that no thread writes during the launch; `source` is a multiple of the bytes
// loaded. A streaming access tells the caches that the data is used once.
template <int width, bool streaming, typename Element>
__device__ __forceinline__ Packed<Element, width> load_global(const Element* source) {
  using Bits = typename Packed<Element, width>::Bits;
  const Bits* address = reinterpret_cast<const Bits*>(source);
  Packed<Element, width> packed;
  if constexpr (streaming) {
    packed.bits = __ldcs(address);
  } else {
    packed.bits = __ldg(address);
  }
  return packed;
}

// The same if `there`, else zeros, by loads with a predicate. Of `if (there) packed = …`, ptxas makes a load
// to other registers and moves behind it, so that each of several loads waits for the one before: a filter
// gradient by vectors of 8 bytes took an H200 twice to five times as long as by words.
template <int width, typename Element>
__device__ __forceinline__ Packed<Element, width> load_global_if(bool there, const Element* source) {
  Packed<Element, width> packed = {};
#ifdef AUTOTUNE_EMULATOR
  if (there) packed = load_global<width, false>(source);
#else
  constexpr int bytes = width * sizeof(Element);
  if constexpr (bytes == 16) {
    asm("{ .reg .pred there; setp.ne.b32 there, %5, 0; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; "
        "mov.b32 %3, 0; @there ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4]; }"
        : "=r"(packed.bits.x), "=r"(packed.bits.y), "=r"(packed.bits.z), "=r"(packed.bits.w)
        : "l"(source), "r"(static_cast<int>(there)));
  } else if constexpr (bytes == 8) {
    asm("{ .reg .pred there; setp.ne.b32 there, %3, 0; mov.b32 %0, 0; mov.b32 %1, 0; "
        "@there ld.global.nc.v2.b32 {%0, %1}, [%2]; }"
        : "=r"(packed.bits.x), "=r"(packed.bits.y)
        : "l"(source), "r"(static_cast<int>(there)));
  } else if (there) {
    packed = load_global<width, false>(source);
  }
#endif
  return packed;
}

// Stores to global memory; `target` is a multiple of the bytes stored.
template <bool streaming, int width, typename Element>
__device__ __forceinline__ void store_global(Element* target, const Packed<Element, width>& packed) {
  using Bits = typename Packed<Element, width>::Bits;
  Bits* address = reinterpret_cast<Bits*>(target);
  if constexpr (streaming) {
    __stcs(address, packed.bits);
  } else {
    *address = packed.bits;
  }
}

// Stores to global memory what was just loaded from shared memory, in one access; otherwise as store_global.
// A plain assignment of such a vector is compiled to a store for each word, of which none fills a sector.
template <bool streaming, int width, typename Element>
__device__ __forceinline__ void store_global_whole(Element* target, const Packed<Element, width>& packed) {
  using Bits = typename Packed<Element, width>::Bits;
  Bits* address = reinterpret_cast<Bits*>(target);
  if constexpr (streaming) {
    __stcs(address, packed.bits);
  } else {
    __stwb(address, packed.bits);
  }
}
