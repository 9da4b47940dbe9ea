// What the lanes of a warp do together by wmma: loads of fragments, products, stores of sums.
//
// PTX leaves open which elements a lane has. Here, lane l has elements l, l + 32, … in the order of memory,
// and those of sums in the order of rows. So fragments that are multiplied by another layout than they were
// loaded with are those of a transposed matrix.

#include <cstring>

#include "emulator.hpp"
#include "memory.hpp"
#include "operands.hpp"
#include "position.hpp"
#include "threads.hpp"

namespace autotune_emulator {
namespace {

constexpr int wmma_side = 16, most_wmma_terms = 16, sums_of_lane = 8;

bool named(const char* name, const char* other) { return std::strcmp(name, other) == 0; }

Operand operand_of(const char* number) {
  if (named(number, ".f16")) return Operand::f16;
  if (named(number, ".bf16")) return Operand::bf16;
  return named(number, ".tf32") ? Operand::tf32 : Operand::s8;
}

int terms_of(Operand type) { return type == Operand::tf32 ? 8 : 16; }

// Whether rows of A, or columns of B, lie one after another.
bool k_adjacent(const char* operand, const char* layout) {
  return named(operand, ".a") == named(layout, ".row");
}

// Where the lanes of a warp find, or leave, an element by its number.
struct MatrixElements {
  char* first;
  int length, stride;  // elements of a row or column as it lies, and to the next
  int bytes;           // an element's

  char* at(int number) const {
    return first + (static_cast<int64_t>(number / length) * stride + number % length) * bytes;
  }
};

// What a lane brings to a load or a store.
struct FragmentMove {
  MatrixElements elements;
  char* held;
  int held_bytes, count;  // a lane's; elements of the matrix
};

FragmentMove begun_move(const char* what, MatrixElements elements, char* held, int held_bytes, int count,
                        Access access) {
  check_shared(what, elements.first, elements.bytes, held_bytes);
  if (elements.stride * elements.bytes % held_bytes != 0)
    fail("%s has rows that are %d bytes apart, which is no multiple of %d", what,
         elements.stride * elements.bytes, held_bytes);
  for (int number = lane(); number < count; number += warp_threads)
    check(elements.at(number), elements.bytes, access, true);
  return {elements, held, held_bytes, count};
}

const FragmentMove& move_of_lane(void* const* brought, int lane) {
  const FragmentMove& own = *static_cast<FragmentMove*>(brought[lane]);
  if (own.elements.first != static_cast<FragmentMove*>(brought[0])->elements.first)
    fail("lane %d gives another address of a matrix than lane 0", lane);
  return own;
}

// Registers beyond a lane's elements have them again.
void load_fragments(void* const* brought) {
  for (int lane = 0; lane < warp_threads; ++lane) {
    const FragmentMove& own = move_of_lane(brought, lane);
    const int bytes = own.elements.bytes, each = own.count / warp_threads;
    for (int slot = 0; slot < own.held_bytes / bytes; ++slot)
      std::memcpy(own.held + slot * bytes, own.elements.at(slot % each * warp_threads + lane), bytes);
  }
}

void store_fragments(void* const* brought) {
  for (int lane = 0; lane < warp_threads; ++lane) {
    const FragmentMove& own = move_of_lane(brought, lane);
    for (int slot = 0; slot < sums_of_lane; ++slot)
      std::memcpy(own.elements.at(slot * warp_threads + lane), own.held + slot * own.elements.bytes,
                  own.elements.bytes);
  }
}

struct WmmaFactors {
  const unsigned int *a, *b;
  void* d;
  Operand type;
  bool k_adjacent_a, k_adjacent_b;
};

void multiply_fragments(void* const* brought) {
  double a[wmma_side][most_wmma_terms], b[wmma_side][most_wmma_terms];
  const Operand type = static_cast<WmmaFactors*>(brought[0])->type;
  const int terms = terms_of(type), bytes = element_bytes(type);
  for (int number = 0; number < wmma_side * terms; ++number) {
    const WmmaFactors& own = *static_cast<WmmaFactors*>(brought[number % warp_threads]);
    const auto read = [&](const unsigned int* registers, bool k_adjacent,
                          double (&into)[wmma_side][most_wmma_terms]) {
      const double value =
          element(reinterpret_cast<const char*>(registers) + number / warp_threads * bytes, type);
      if (k_adjacent)
        into[number / terms][number % terms] = value;
      else
        into[number % wmma_side][number / wmma_side] = value;
    };
    read(own.a, own.k_adjacent_a, a);
    read(own.b, own.k_adjacent_b, b);
  }
  for (int number = 0; number < wmma_side * wmma_side; ++number) {
    const WmmaFactors& own = *static_cast<WmmaFactors*>(brought[number % warp_threads]);
    const int slot = number / warp_threads;
    const auto plus = [&](double sum) {
      return sum_of_products(sum, a[number / wmma_side], b[number % wmma_side], terms, type);
    };
    if (type == Operand::s8) {
      int& sum = static_cast<int*>(own.d)[slot];
      sum = static_cast<int>(plus(sum));
    } else {
      float& sum = static_cast<float*>(own.d)[slot];
      sum = static_cast<float>(plus(sum));
    }
  }
}

void add_fragments(void* d, const unsigned int* a, const unsigned int* b, const char* layout_a,
                   const char* layout_b, const char* number, int line) {
  WmmaFactors own{a, b, d, operand_of(number), k_adjacent(".a", layout_a), k_adjacent(".b", layout_b)};
  meet_whole_warp({"a product by wmma", multiply_fragments}, &own, line);
}

void store_sums(void* matrix, const void* d, int stride, int line) {
  char* held = static_cast<char*>(const_cast<void*>(d));
  const MatrixElements elements{static_cast<char*>(matrix), wmma_side, stride, 4};
  FragmentMove own = begun_move("a matrix of wmma.store", elements, held, 4 * sums_of_lane,
                                wmma_side * wmma_side, Access::write);
  meet_whole_warp({"a store by wmma", store_fragments}, &own, line);
}

}  // namespace

void wmma_load(unsigned int* fragment, int registers, const void* matrix, int stride, const char* operand,
               const char* layout, const char* number, int line) {
  const Operand type = operand_of(number);
  const int terms = terms_of(type);
  const MatrixElements elements{static_cast<char*>(const_cast<void*>(matrix)),
                                k_adjacent(operand, layout) ? terms : wmma_side, stride, element_bytes(type)};
  FragmentMove own = begun_move("a matrix of wmma.load", elements, reinterpret_cast<char*>(fragment),
                                4 * registers, wmma_side * terms, Access::read);
  meet_whole_warp({"a load by wmma", load_fragments}, &own, line);
}

void wmma_multiply(float (&d)[8], const unsigned int* a, const unsigned int* b, const char* layout_a,
                   const char* layout_b, const char* number, int line) {
  add_fragments(d, a, b, layout_a, layout_b, number, line);
}

void wmma_multiply(int (&d)[8], const unsigned int* a, const unsigned int* b, const char* layout_a,
                   const char* layout_b, const char* number, int line) {
  add_fragments(d, a, b, layout_a, layout_b, number, line);
}

void wmma_store(float* matrix, const float (&d)[8], int stride, int line) {
  store_sums(matrix, d, stride, line);
}
void wmma_store(int* matrix, const int (&d)[8], int stride, int line) { store_sums(matrix, d, stride, line); }

}  // namespace autotune_emulator
