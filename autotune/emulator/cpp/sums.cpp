#include "sums.hpp"

#include <cstring>

#include "emulator.hpp"

namespace autotune_emulator {
namespace {

template <typename T, typename Add>
void add_each(char* target, const char* terms, int bytes, Add add) {
  for (int offset = 0; offset < bytes; offset += static_cast<int>(sizeof(T))) {
    T sum, term;
    std::memcpy(&sum, target + offset, sizeof(T));
    std::memcpy(&term, terms + offset, sizeof(T));
    sum = add(sum, term);
    std::memcpy(target + offset, &sum, sizeof(T));
  }
}

float float_of_bfloat16(uint16_t bits) { return bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// To the nearest, ties to even.
uint16_t bfloat16_of_float(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace

void add_in_place(Added added, char* target, const char* terms, int bytes) {
  const auto plus = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
  switch (added) {
    case Added::int32:
      return add_each<uint32_t>(target, terms, bytes, plus);
    case Added::int64:
      return add_each<uint64_t>(target, terms, bytes, plus);
    case Added::float32:
      return add_each<float>(target, terms, bytes, plus);
    case Added::float16:
      return add_each<uint16_t>(target, terms, bytes, [](uint16_t a, uint16_t b) {
        return float16_of_float(float_of_float16(a) + float_of_float16(b));
      });
    case Added::bfloat16:
      return add_each<uint16_t>(target, terms, bytes, [](uint16_t a, uint16_t b) {
        return bfloat16_of_float(float_of_bfloat16(a) + float_of_bfloat16(b));
      });
    case Added::not_at_all:
      return;
  }
}

}  // namespace autotune_emulator
