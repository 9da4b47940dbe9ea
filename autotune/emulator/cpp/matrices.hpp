#pragma once
// Operands of wgmma in shared memory, as their descriptors say where they lie.

#include <cstdint>
#include <vector>

namespace autotune_emulator {

enum class Operand;  // emulator.hpp has it

constexpr int matrix_unit_bytes = 16;

struct Matrix {
  int rows, terms;  // along m or n, and along k
  Operand type;
  bool k_adjacent;
  int swizzle_bytes;
  // Where the units lie: with k adjacent those of a row one after another, else those of a term.
  std::vector<const char*> units;
};

// `name` is A or B, for messages.
Matrix described_matrix(const char* name, unsigned long long descriptor, int rows, Operand type,
                        bool k_adjacent, int line);
// Its elements, those of a row one after another.
std::vector<double> elements_of(const Matrix& matrix);

}  // namespace autotune_emulator
