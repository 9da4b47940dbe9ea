#pragma once
#include "cuda/packed.cuh"

// 16 bytes of consecutive elements that begin anywhere in global memory, loaded as the two aligned units that
// hold them. Where a thread begins many loads before it takes the elements of the first, all are in flight.
template <typename Element>
class RealignedLoad {
 public:
  static constexpr int width = 16 / sizeof(Element);

  // Of the elements from `source` on, `count` are wanted; they lie between `first` and `end`, and nothing
  // outside of these is read. No thread writes them during the launch.
  __device__ __forceinline__ void begin(const Element* source, int count, const Element* first,
                                        const Element* end) {
    source_ = source;
    count_ = count < width ? count : width;
    const auto* low = reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(source) - skipped());
    const bool crosses = skipped() + count_ * static_cast<int>(sizeof(Element)) > 16;
    const bool has_low = count_ > 0 && low >= reinterpret_cast<const unsigned*>(first) &&
                         low + 4 <= reinterpret_cast<const unsigned*>(end);
    const bool has_high = has_low && crosses && low + 8 <= reinterpret_cast<const unsigned*>(end);
    low_.bits = high_.bits = uint4{};
    if (has_low) low_ = load_global<4, false>(low);
    if (has_high) high_ = load_global<4, false>(low + 4);
    loaded_ = count_ <= 0 || (has_low && has_high == crosses);
  }

  // The elements; zeros follow the last one that is wanted.
  __device__ __forceinline__ Packed<Element, width> elements() const {
    unsigned words[8];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = low_.elements[i];
      words[i + 4] = high_.elements[i];
    }
#pragma unroll
    for (int distance = 2; distance > 0; distance /= 2) {
      const bool moved = (skipped() / 4 & distance) != 0;
#pragma unroll
      for (int i = 0; i < 4 + distance; ++i) words[i] = moved ? words[i + distance] : words[i];
    }
    Packed<unsigned, 4> shifted;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto both = static_cast<unsigned long long>(words[i + 1]) << 32 | words[i];
      shifted.elements[i] = sizeof(Element) < 4 ? static_cast<unsigned>(both >> skipped() % 4 * 8) : words[i];
    }
    Packed<Element, width> result;
    result.bits = shifted.bits;
    if (!loaded_) {  // at the ends of a tensor
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (i < count_) result.elements[i] = load_global<1, false>(source_ + i).elements[0];
    }
    if (count_ < width) {
#pragma unroll
      for (int i = 0; i < width; ++i) result.elements[i] = i < count_ ? result.elements[i] : Element{};
    }
    return result;
  }

 private:
  // Bytes of the first unit that lie before the elements.
  __device__ __forceinline__ int skipped() const {
    return static_cast<int>(reinterpret_cast<unsigned long long>(source_) % 16);
  }

  const Element* source_;
  int count_;
  bool loaded_;
  Packed<unsigned, 4> low_, high_;
};
