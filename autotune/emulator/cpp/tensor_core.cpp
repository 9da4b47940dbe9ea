// What the lanes of a warp do together with matrices: ldmatrix, and mma.sync.

#include <cstring>

#include "emulator.hpp"
#include "memory.hpp"
#include "operands.hpp"
#include "position.hpp"
#include "threads.hpp"

namespace autotune_emulator {
namespace {

constexpr int rows = 16, columns = 8, most_terms = 32;

// What a lane brings to mma: its registers of A and B, and its sums, floats or ints.
struct Fragments {
  const unsigned int *a, *b;
  void* d;
  Operand type_a, type_b;
};

// What a lane brings to ldmatrix or stmatrix: the address of a row, and the registers that it gets or gives.
struct MatrixRow {
  char* row;
  unsigned int* registers;
  bool transposed;
};

// Elements of the lanes' registers lie alike for all types: a register has 4 bytes along k, the lanes of a
// quad have 16, and behind those come the second half of the registers.
void multiply(void* const* brought) {
  double a[rows][most_terms], b[columns][most_terms];
  const Fragments& first = *static_cast<Fragments*>(brought[0]);
  const int bytes = element_bytes(first.type_a), terms = 32 / bytes, held = 4 / bytes;
  for (int lane = 0; lane < warp_threads; ++lane) {
    const Fragments& own = *static_cast<Fragments*>(brought[lane]);
    const int quad = lane / 4, place = lane % 4;
    for (int index = 0; index < held; ++index) {
      const auto at = [=](const unsigned int* registers, int number) {
        return reinterpret_cast<const char*>(registers + number) + index * bytes;
      };
      for (int half = 0; half < 2; ++half) {
        const int term = half * terms / 2 + place * held + index;
        for (int lower = 0; lower < 2; ++lower)
          a[quad + 8 * lower][term] = element(at(own.a, 2 * half + lower), own.type_a);
        b[quad][term] = element(at(own.b, half), own.type_b);
      }
    }
  }
  for (int lane = 0; lane < warp_threads; ++lane) {
    const Fragments& own = *static_cast<Fragments*>(brought[lane]);
    for (int index = 0; index < 4; ++index) {
      const int row = lane / 4 + index / 2 * 8, column = 2 * (lane % 4) + index % 2;
      const auto plus = [&](double sum) {
        return sum_of_products(sum, a[row], b[column], terms, own.type_a);
      };
      if (own.type_a == Operand::s8) {
        int& sum = static_cast<int*>(own.d)[index];
        sum = static_cast<int>(plus(sum));
      } else {
        float& sum = static_cast<float*>(own.d)[index];
        sum = static_cast<float>(plus(sum));
      }
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

void store(void* const* brought) {
  for (int lane = 0; lane < warp_threads; ++lane) {
    const MatrixRow& own = *static_cast<MatrixRow*>(brought[lane]);
    for (int i = 0; i < 8; ++i) {
      const int matrix = i / 2, quad = lane / 4, neighbour = lane % 4 * 2 + i % 2;
      const int row = own.transposed ? neighbour : quad, column = own.transposed ? quad : neighbour;
      const auto bits = static_cast<unsigned short>(own.registers[matrix] >> i % 2 * 16);
      std::memcpy(static_cast<MatrixRow*>(brought[8 * matrix + row])->row + 2 * column, &bits, sizeof bits);
    }
  }
}

}  // namespace

void add_product(float (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2], Operand type_a,
                 Operand type_b, int line) {
  Fragments own{a, b, d, type_a, type_b};
  meet_whole_warp({"a product of matrices", multiply}, &own, line);
}

void add_product(float (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2], bool bfloat16,
                 int line) {
  const Operand type = bfloat16 ? Operand::bf16 : Operand::f16;
  add_product(d, a, b, type, type, line);
}

void add_product(int (&d)[4], const unsigned int (&a)[4], const unsigned int (&b)[2], int line) {
  Fragments own{a, b, d, Operand::s8, Operand::s8};
  meet_whole_warp({"a product of matrices", multiply}, &own, line);
}

void load_matrices(unsigned int (&registers)[4], const void* row, bool transposed, int line) {
  check_shared("a row of ldmatrix", row, 16, 16);
  check(row, 16, Access::read, true);
  MatrixRow own{static_cast<char*>(const_cast<void*>(row)), registers, transposed};
  meet_whole_warp({"a load of matrices", load}, &own, line);
}

void store_matrices(void* row, const unsigned int (&registers)[4], bool transposed, int line) {
  check_shared("a row of stmatrix", row, 16, 16);
  check(row, 16, Access::write, true);
  MatrixRow own{static_cast<char*>(row), const_cast<unsigned int*>(registers), transposed};
  meet_whole_warp({"a store of matrices", store}, &own, line);
}

}  // namespace autotune_emulator
