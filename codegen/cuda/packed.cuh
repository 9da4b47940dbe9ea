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
