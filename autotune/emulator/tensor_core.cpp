// mma.m16n8k16 with float sums. PTX leaves open how the products of an element are added up. Tensor cores cut
// off bits where a float would be rounded to nearest, so the twin does too: the exact sum, towards zero.

#include "tensor_core.hpp"

#include <cmath>
#include <cstdint>

#include "emulator.hpp"

namespace autotune_emulator {
namespace {

constexpr int rows = 16, columns = 8, terms = 16;

// One of the two elements of a register.
double element(unsigned int pair, int index, bool bfloat16) {
  const unsigned int bits = pair >> 16 * index & 0xffff;
  return bfloat16 ? bit_cast<float>(bits << 16) : float_of_float16(static_cast<unsigned short>(bits));
}

float towards_zero(double sum) {
  const float nearest = static_cast<float>(sum);
  if (std::isnan(sum) || std::fabs(static_cast<double>(nearest)) <= std::fabs(sum)) return nearest;
  return std::nextafter(nearest, 0.0f);
}

}  // namespace

void multiply(const Fragments* const (&lanes)[32]) {
  double a[rows][terms], b[terms][columns];
  for (int lane = 0; lane < 32; ++lane) {
    const Fragments& own = *lanes[lane];
    const int quad = lane / 4, place = lane % 4;
    for (int index = 0; index < 8; ++index) {
      const int row = quad + index / 2 % 2 * 8, term = 2 * place + index % 2 + index / 4 * 8;
      a[row][term] = element(own.a[index / 2], index % 2, own.bfloat16);
    }
    for (int index = 0; index < 4; ++index)
      b[2 * place + index % 2 + index / 2 * 8][quad] = element(own.b[index / 2], index % 2, own.bfloat16);
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int index = 0; index < 4; ++index) {
      const int row = lane / 4 + index / 2 * 8, column = 2 * (lane % 4) + index % 2;
      double sum = lanes[lane]->d[index];
      for (int term = 0; term < terms; ++term) sum += a[row][term] * b[term][column];
      lanes[lane]->d[index] = towards_zero(sum);
    }
  }
}

}  // namespace autotune_emulator
