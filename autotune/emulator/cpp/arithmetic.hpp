#pragma once
// Arithmetic and bits.

extern "C" {
float ceilf(float) noexcept;
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float fabsf(float) noexcept;
double fabs(double) noexcept;
float sqrtf(float) noexcept;
double sqrt(double) noexcept;
double exp(double) noexcept;
double erf(double) noexcept;
double tanh(double) noexcept;
double log(double) noexcept;
double exp2(double) noexcept;
double log2(double) noexcept;
double floor(double) noexcept;
double rint(double) noexcept;
float fmaxf(float, float) noexcept;
float fminf(float, float) noexcept;
}

// With the largest errors that the CUDA programming guide states.
#define AUTOTUNE_FUNCTION(name, ulp)                                              \
  inline float name##f(float x) {                                                 \
    return autotune_emulator::inexact(autotune_emulator::Function::name, x, ulp); \
  }
AUTOTUNE_FUNCTION(exp, 2)
AUTOTUNE_FUNCTION(exp2, 2)
AUTOTUNE_FUNCTION(log, 1)
AUTOTUNE_FUNCTION(rsqrt, 2)
AUTOTUNE_FUNCTION(tanh, 2)
AUTOTUNE_FUNCTION(erf, 2)
#undef AUTOTUNE_FUNCTION

inline void sincospif(float x, float* sine, float* cosine) {
  *sine = autotune_emulator::inexact(autotune_emulator::Function::sinpi, x, 1);
  *cosine = autotune_emulator::inexact(autotune_emulator::Function::cospi, x, 1);
}
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = autotune_emulator::sinpi(x);
  *cosine = autotune_emulator::cospi(x);
}

inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }

// As CUDA declares them: an integer and one of the other sign are compared without signs, a float and a
// double in double.
#define AUTOTUNE_MIN_MAX(T, A, B)                                                     \
  constexpr T min(A a, B b) { return static_cast<T>(b) < static_cast<T>(a) ? b : a; } \
  constexpr T max(A a, B b) { return static_cast<T>(a) < static_cast<T>(b) ? b : a; }
#define AUTOTUNE_MIN_MAX_OF(SIGNED)                                   \
  AUTOTUNE_MIN_MAX(SIGNED, SIGNED, SIGNED)                            \
  AUTOTUNE_MIN_MAX(unsigned SIGNED, unsigned SIGNED, unsigned SIGNED) \
  AUTOTUNE_MIN_MAX(unsigned SIGNED, SIGNED, unsigned SIGNED)          \
  AUTOTUNE_MIN_MAX(unsigned SIGNED, unsigned SIGNED, SIGNED)
AUTOTUNE_MIN_MAX_OF(int)
AUTOTUNE_MIN_MAX_OF(long)
AUTOTUNE_MIN_MAX_OF(long long)
AUTOTUNE_MIN_MAX(float, float, float)
AUTOTUNE_MIN_MAX(double, double, double)
AUTOTUNE_MIN_MAX(double, float, double)
AUTOTUNE_MIN_MAX(double, double, float)
#undef AUTOTUNE_MIN_MAX_OF
#undef AUTOTUNE_MIN_MAX

inline unsigned int __float_as_uint(float value) { return autotune_emulator::bit_cast<unsigned int>(value); }
inline int __float_as_int(float value) { return autotune_emulator::bit_cast<int>(value); }
inline float __uint_as_float(unsigned int value) { return autotune_emulator::bit_cast<float>(value); }
inline float __int_as_float(int value) { return autotune_emulator::bit_cast<float>(value); }

// Bits of integers.
inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
// The upper half of the product.
inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(bits)); }
inline int __clzll(long long bits) {
  return bits == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(bits));
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned int selected = 0;
  for (int byte = 0; byte < 4; ++byte)
    selected |= static_cast<unsigned int>(bytes >> (selector >> 4 * byte & 7) * 8 & 0xff) << 8 * byte;
  return selected;
}
inline unsigned int __brev(unsigned int bits) {
  unsigned int reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (bits >> bit & 1u) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long bits) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(bits))) << 32 |
         __brev(static_cast<unsigned int>(bits >> 32));
}
