#pragma once
// CUDA's vectors.

// Vectors, aligned to their size up to 16 bytes. Vectors of three are no wider than their elements.
#define AUTOTUNE_VECTORS(T, name)                                               \
  struct name##1 { T x; };                                                      \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                            \
  struct name##3 { T x, y, z; };                                                \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; }; \
  constexpr name##1 make_##name##1(T x) { return {x}; }                         \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                 \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }         \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

AUTOTUNE_VECTORS(signed char, char)
AUTOTUNE_VECTORS(unsigned char, uchar)
AUTOTUNE_VECTORS(short, short)
AUTOTUNE_VECTORS(unsigned short, ushort)
AUTOTUNE_VECTORS(int, int)
AUTOTUNE_VECTORS(unsigned int, uint)
AUTOTUNE_VECTORS(long long, longlong)
AUTOTUNE_VECTORS(unsigned long long, ulonglong)
AUTOTUNE_VECTORS(float, float)
AUTOTUNE_VECTORS(double, double)
#undef AUTOTUNE_VECTORS
