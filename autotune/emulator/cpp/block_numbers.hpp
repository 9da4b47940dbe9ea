#pragma once
// Numbers of blocks of which sums and products in 32 bits must not wrap, as indices of arrays must not.

namespace autotune_emulator {

[[noreturn]] void fail_wrapped(unsigned int left, char sign, unsigned int right);

struct BlockNumber {
  unsigned int value;
  constexpr operator unsigned int() const { return value; }
};

// Whether arithmetic with a number of this type, none of them negative, is in 32 bits.
template <typename T>
constexpr bool narrow = sizeof(T) <= 4 && static_cast<T>(1.5f) == static_cast<T>(1);

template <typename T>
constexpr auto add(BlockNumber a, T b) {
  if constexpr (narrow<T>) {
    BlockNumber sum{a.value + static_cast<unsigned int>(b)};
    if (b > T(0) && sum.value < a.value) fail_wrapped(a.value, '+', static_cast<unsigned int>(b));
    return sum;
  } else {
    return a.value + b;
  }
}

template <typename T>
constexpr auto multiply(BlockNumber a, T b) {
  if constexpr (narrow<T>) {
    BlockNumber product{a.value * static_cast<unsigned int>(b)};
    if (b > T(0) && product.value / static_cast<unsigned int>(b) != a.value)
      fail_wrapped(a.value, '*', static_cast<unsigned int>(b));
    return product;
  } else {
    return a.value * b;
  }
}

}  // namespace autotune_emulator

struct BlockNumbers {
  autotune_emulator::BlockNumber x, y, z;
};

#define AUTOTUNE_BLOCK_NUMBER(sign, function)                                                        \
  template <typename T>                                                                              \
  constexpr auto operator sign(autotune_emulator::BlockNumber a, T b) {                              \
    return autotune_emulator::function(a, b);                                                        \
  }                                                                                                  \
  template <typename T>                                                                              \
  constexpr auto operator sign(T a, autotune_emulator::BlockNumber b) {                              \
    return autotune_emulator::function(b, a);                                                        \
  }                                                                                                  \
  constexpr auto operator sign(autotune_emulator::BlockNumber a, autotune_emulator::BlockNumber b) { \
    return autotune_emulator::function(a, b.value);                                                  \
  }
AUTOTUNE_BLOCK_NUMBER(+, add)
AUTOTUNE_BLOCK_NUMBER(*, multiply)
#undef AUTOTUNE_BLOCK_NUMBER
