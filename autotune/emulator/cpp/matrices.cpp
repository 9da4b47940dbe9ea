#include "matrices.hpp"

#include "emulator.hpp"

#include "../../codegen/cuda/swizzle.cuh"
#include "memory.hpp"
#include "operands.hpp"
#include "position.hpp"

namespace autotune_emulator {
namespace {

constexpr int group_rows = 8;      // rows of a swizzle's period
constexpr int product_bytes = 32;  // along k

// "Matrix Descriptor Format" of the PTX manual.
struct Descriptor {
  unsigned int start, leading, stride;  // bytes
  int base, swizzle_bytes;
  bool reserved;  // whether a bit is set that belongs to no field

  explicit Descriptor(unsigned long long bits)
      : start(bits << 4 & 0x3fff0),
        leading(bits >> 16 << 4 & 0x3fff0),
        stride(bits >> 32 << 4 & 0x3fff0),
        base(static_cast<int>(bits >> 49 & 7)),
        reserved((bits & 0x3ff1c000c000c000ull) != 0) {
    const int modes[] = {0, 128, 64, 32};
    swizzle_bytes = modes[bits >> 62];
  }
};

void check_descriptor(const char* name, const Descriptor& own, bool k_adjacent, int line) {
  if (own.reserved) fail("line %d: the descriptor of %s has bits that belong to no field", line, name);
  if (own.base != 0)
    fail("line %d: the descriptor of %s has a base offset of %d: expected 0", line, name, own.base);
  if (own.swizzle_bytes == 0) return;
  const unsigned int period = group_rows * own.swizzle_bytes;
  const unsigned int into_row = own.start % own.swizzle_bytes;
  if (own.start % period != into_row)
    fail("line %d: %s begins at byte %u of shared memory, in row %u of 8 of its swizzle: expected row 0",
         line, name, own.start, own.start % period / own.swizzle_bytes);
  if (own.stride % period != 0 || (!k_adjacent && own.leading % period != 0))
    fail(
        "line %d: the groups of %s are %u and %u bytes apart: expected multiples of %u, 8 rows of its "
        "swizzle",
        line, name, own.stride, own.leading, period);
  if (into_row + product_bytes > static_cast<unsigned int>(own.swizzle_bytes) && k_adjacent)
    fail("line %d: %s begins %u bytes into a row of %d of its swizzle, which has no %d more", line, name,
         into_row, own.swizzle_bytes, product_bytes);
  if (into_row != 0 && !k_adjacent)
    fail("line %d: %s begins %u bytes into a row of its swizzle: expected 0", line, name, into_row);
}

}  // namespace

Matrix described_matrix(const char* name, unsigned long long descriptor, int rows, Operand type,
                        bool k_adjacent, int line) {
  const Descriptor own(descriptor);
  check_descriptor(name, own, k_adjacent, line);
  const char* shared = own_shared(own.swizzle_bytes > 0 ? group_rows * own.swizzle_bytes : matrix_unit_bytes);
  Matrix matrix{rows, product_bytes / element_bytes(type), type, k_adjacent, own.swizzle_bytes, {}};
  const unsigned int row_bytes = own.swizzle_bytes > 0 ? own.swizzle_bytes : matrix_unit_bytes;
  const unsigned int across = matrix_unit_bytes / element_bytes(type);  // elements of a unit
  const auto add = [&](unsigned int group, unsigned int row, unsigned int span, unsigned int unit,
                       bool spans_stride) {
    const unsigned int group_bytes = spans_stride ? own.leading : own.stride;
    const unsigned int span_bytes = spans_stride ? own.stride : own.leading;
    const unsigned int offset =
        own.start + group * group_bytes + row * row_bytes + span * span_bytes + unit * matrix_unit_bytes;
    matrix.units.push_back(shared + swizzled(offset, own.swizzle_bytes));
  };
  if (k_adjacent) {
    for (int row = 0; row < rows; ++row)
      for (unsigned int unit = 0; unit < product_bytes / matrix_unit_bytes; ++unit)
        own.swizzle_bytes > 0 ? add(row / group_rows, row % group_rows, 0, unit, false)
                              : add(row / group_rows, row % group_rows, unit, 0, false);
    return matrix;
  }
  const unsigned int span_units = row_bytes / matrix_unit_bytes;
  for (int term = 0; term < matrix.terms; ++term)
    for (unsigned int unit = 0; unit < rows / across; ++unit)
      add(term / group_rows, term % group_rows, unit / span_units, unit % span_units, own.swizzle_bytes == 0);
  return matrix;
}

std::vector<double> elements_of(const Matrix& matrix) {
  std::vector<double> elements(static_cast<size_t>(matrix.rows) * matrix.terms);
  const int bytes = element_bytes(matrix.type), across = matrix_unit_bytes / bytes;
  const int lines = matrix.k_adjacent ? matrix.rows : matrix.terms;
  const int units = static_cast<int>(matrix.units.size()) / lines;
  for (int line = 0; line < lines; ++line) {
    for (int place = 0; place < units * across; ++place) {
      const char* unit = matrix.units[line * units + place / across];
      const double value = element(unit + place % across * bytes, matrix.type);
      elements[matrix.k_adjacent ? line * matrix.terms + place : place * matrix.terms + line] = value;
    }
  }
  return elements;
}

}  // namespace autotune_emulator
