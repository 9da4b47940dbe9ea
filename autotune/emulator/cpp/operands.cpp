// What tensor cores multiply, and how they add it up. PTX leaves that open. Tensor cores cut off bits where a
// float would be rounded to nearest, so the twins do too: the exact sum, towards zero; and for 8-bit floats
// they keep 14 bits of what is added, counted from the largest.

#include "operands.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "emulator.hpp"

namespace autotune_emulator {
namespace {

constexpr int float8_bits = 13;  // behind the first

double float_of_e4m3(unsigned int bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7) return NAN;
  const double size = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return bits >> 7 & 1 ? -size : size;
}

float towards_zero(double sum) {
  const float nearest = static_cast<float>(sum);
  if (std::isnan(sum) || std::fabs(static_cast<double>(nearest)) <= std::fabs(sum)) return nearest;
  return std::nextafter(nearest, 0.0f);
}

// The bits of a number that count beside the largest that is added.
double aligned(double value, int largest_exponent) {
  if (!std::isfinite(value)) return value;
  const int last = largest_exponent - float8_bits;
  return std::ldexp(std::trunc(std::ldexp(value, -last)), last);
}

double sum_of_float8(double sum, const double* a, const double* b, int terms) {
  double largest = std::fabs(sum);
  for (int term = 0; term < terms; ++term) largest = std::fmax(largest, std::fabs(a[term] * b[term]));
  if (largest == 0 || !std::isfinite(largest)) largest = 1;
  const int exponent = std::ilogb(largest);
  double total = aligned(sum, exponent);
  for (int term = 0; term < terms; ++term) total += aligned(a[term] * b[term], exponent);
  return total;
}

}  // namespace

int element_bytes(Operand type) {
  return type == Operand::tf32 ? 4 : type == Operand::f16 || type == Operand::bf16 ? 2 : 1;
}

double element(const char* bytes, Operand type) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, element_bytes(type));
  switch (type) {
    case Operand::f16:
      return float_of_float16(static_cast<unsigned short>(bits));
    case Operand::bf16:
      return bit_cast<float>(bits << 16);
    case Operand::tf32:
      return bit_cast<float>(bits & ~0x1fffu);
    case Operand::e4m3:
      return float_of_e4m3(bits);
    case Operand::e5m2:
      return float_of_float16(static_cast<unsigned short>(bits << 8));
    case Operand::s8:
      return static_cast<int8_t>(bits);
    case Operand::u8:
      return bits;
  }
  return 0;
}

double sum_of_products(double sum, const double* a, const double* b, int terms, Operand type) {
  if (type == Operand::e4m3 || type == Operand::e5m2) return towards_zero(sum_of_float8(sum, a, b, terms));
  for (int term = 0; term < terms; ++term) sum += a[term] * b[term];
  const bool integers = type == Operand::s8 || type == Operand::u8;
  return integers ? static_cast<int32_t>(static_cast<int64_t>(sum)) : towards_zero(sum);
}

}  // namespace autotune_emulator
