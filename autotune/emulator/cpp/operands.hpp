#pragma once
// What tensor cores multiply, and how they add it up.

namespace autotune_emulator {

enum class Operand;  // emulator.hpp has it

int element_bytes(Operand type);
double element(const char* bytes, Operand type);
// The sum and so many products, of operands of this type or one of its kind.
double sum_of_products(double sum, const double* a, const double* b, int terms, Operand type);

}  // namespace autotune_emulator
