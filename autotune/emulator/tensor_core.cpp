// What the lanes of a warp do together with matrices: ldmatrix, and mma.sync with float sums. PTX leaves open
// how the products of an element are added up. Tensor cores cut off bits where a float would be rounded to
// nearest, so the twin does too: the exact sum, towards zero.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "emulator.hpp"
#include "memory.hpp"
#include "position.hpp"
#include "threads.hpp"

namespace autotune_emulator {
namespace {

constexpr int rows = 16, columns = 8, terms = 16;

// What a lane brings to mma.m16n8k16: its registers of A and B, and its sums.
struct Fragments {
  const unsigned int *a, *b;
  float* d;
  bool bfloat16;  // or float16
};

// What a lane brings to ldmatrix: the address of a row, and the registers that it gets.
struct MatrixRow {
  const char* row;
  unsigned int* registers;
  bool transposed;
};

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

void multiply(void* const* brought) {
  double a[rows][terms], b[terms][columns];
  for (int lane = 0; lane < warp_threads; ++lane) {
    const Fragments& own = *static_cast<Fragments*>(brought[lane]);
    const int quad = lane / 4, place = lane % 4;
    for (int index = 0; index < 8; ++index) {
      const int row = quad + index / 2 % 2 * 8, term = 2 * place + index % 2 + index / 4 * 8;
      a[row][term] = element(own.a[index / 2], index % 2, own.bfloat16);
    }
    for (int index = 0; index < 4; ++index)
      b[2 * place + index % 2 + index / 2 * 8][quad] = element(own.b[index / 2], index % 2, own.bfloat16);
  }
  for (int lane = 0; lane < warp_threads; ++lane) {
    float* const d = static_cast<Fragments*>(brought[lane])->d;
    for (int index = 0; index < 4; ++index) {
      const int row = lane / 4 + index / 2 * 8, column = 2 * (lane % 4) + index % 2;
      double sum = d[index];
      for (int term = 0; term < terms; ++term) sum += a[row][term] * b[term][column];
      d[index] = towards_zero(sum);
    }
  }
}

// Matrix i of four has the rows of lanes 8·i to 8·i + 7.
void load(void* const* brought) {
  const auto number = [&](int matrix, int row, int column) {
    unsigned short bits;
    std::memcpy(&bits, static_cast<MatrixRow*>(brought[8 * matrix + row])->row + 2 * column, sizeof bits);
    return static_cast<unsigned int>(bits);
  };
  for (int lane = 0; lane < warp_threads; ++lane) {
    const MatrixRow& own = *static_cast<MatrixRow*>(brought[lane]);
    const int quad = lane / 4, first = lane % 4 * 2;
    for (int matrix = 0; matrix < 4; ++matrix)
      own.registers[matrix] = own.transposed
                                  ? number(matrix, first, quad) | number(matrix, first + 1, quad) << 16
                                  : number(matrix, quad, first) | number(matrix, quad, first + 1) << 16;
  }
}

}  // namespace

void add_product(float (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2], bool bfloat16,
                 int line) {
  Fragments own{a, b, d, bfloat16};
  meet_whole_warp({"a product of matrices", multiply}, &own, line);
}

void load_matrices(unsigned int (&registers)[4], const void* row, bool transposed, int line) {
  check_shared("a row of ldmatrix", row, 16, 16);
  check(row, 16, Access::read, true);
  MatrixRow own{static_cast<const char*>(row), registers, transposed};
  meet_whole_warp({"a load of matrices", load}, &own, line);
}

}  // namespace autotune_emulator
