// Conversions of float16, bit for bit as PTX's cvt.rn.f16.f32 and cvt.f32.f16 do them.

#include <cmath>
#include <cstdint>

#include "emulator.hpp"

namespace autotune_emulator {

unsigned short float16_of_float(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value), size = bits & 0x7fffffff;
  const auto with_sign = [=](uint32_t half) {
    return static_cast<unsigned short>((bits >> 16 & 0x8000) | half);
  };
  if (size > 0x7f800000) return 0x7fff;              // NaN
  if (size >= 0x477ff000) return with_sign(0x7c00);  // from 65520 on: infinity
  if (size < 0x38800000) {                           // below 2^-14: a multiple of 2^-24
    const float sum = bit_cast<float>(size) + 0.5f;  // whose last bit is worth 2^-24
    return with_sign(bit_cast<uint32_t>(sum) - bit_cast<uint32_t>(0.5f));
  }
  const uint32_t rounded = size + 0xfff + (size >> 13 & 1);
  return with_sign((rounded - (112u << 23)) >> 13);  // exponents are offset by 127 and by 15
}

float float_of_float16(unsigned short half) {
  const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
  float size = std::ldexp(static_cast<float>(fraction), -24);
  if (exponent > 0) size = bit_cast<float>(((exponent + 112) << 23) | fraction << 13);
  if (exponent == 31) size = bit_cast<float>(0x7f800000 | fraction << 13);
  return half >> 15 ? -size : size;
}

}  // namespace autotune_emulator
