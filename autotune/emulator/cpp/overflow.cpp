// Signed overflow, which C++ leaves undefined: g++ compiles it into calls of these functions
// (-fsanitize=signed-integer-overflow), which its own library would answer.

#include <cstdint>

#include "position.hpp"

namespace {

using autotune_emulator::fail;

// As libubsan declares them.
struct Type {
  uint16_t kind, info;  // info: the logarithm of the bits, then whether there is a sign
  char name[];
};
struct Operation {
  const char* file;
  uint32_t line, column;
  const Type* type;
};

long long number(const Type& type, uint64_t value) {
  const int unused = 64 - (1 << (type.info >> 1));
  return static_cast<int64_t>(value << unused) >> unused;
}

[[noreturn]] void fail_overflow(const Operation& operation, uint64_t left, const char* sign, uint64_t right) {
  const Type& type = *operation.type;
  fail("line %u: %lld %s %lld overflows %s", operation.line, number(type, left), sign, number(type, right),
       type.name);
}

}  // namespace

namespace autotune_emulator {

[[noreturn]] void fail_wrapped(unsigned int left, char sign, unsigned int right) {
  fail("%u %c %u wraps in 32 bits", left, sign, right);
}

}  // namespace autotune_emulator

extern "C" {
#define AUTOTUNE_OVERFLOW(name, sign)                                                                      \
  void __ubsan_handle_##name##_overflow_abort(const Operation* operation, uint64_t left, uint64_t right) { \
    fail_overflow(*operation, left, sign, right);                                                          \
  }
AUTOTUNE_OVERFLOW(add, "+")
AUTOTUNE_OVERFLOW(sub, "-")
AUTOTUNE_OVERFLOW(mul, "*")
AUTOTUNE_OVERFLOW(divrem, "/")
void __ubsan_handle_negate_overflow_abort(const Operation* operation, uint64_t value) {
  fail_overflow(*operation, 0, "-", value);
}
}
