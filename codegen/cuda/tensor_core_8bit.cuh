#pragma once
#include "cuda/narrow.cuh"
// Products of 8-bit numbers by the tensor cores of a warp. A register holds four of them along k, the first
// one in its lowest bits; otherwise fragments lie as those of tensor_core.cuh do. A is 16×32, B is 32×8.

// D += A·B of integers (sm_80 and newer). All lanes of the warp take part.
__device__ __forceinline__ void add_product_of_int8(int (&d)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b);
#else
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// The same of half of k and 8 rows of A and D, whose sums are `first` and the next one (sm_75 and newer).
template <int first>
__device__ __forceinline__ void add_quarter_of_int8(int (&d)[4], unsigned a, unsigned b) {
#ifdef AUTOTUNE_EMULATOR
  const unsigned whole_a[4] = {first == 0 ? a : 0, first == 0 ? 0 : a, 0, 0}, whole_b[2] = {b, 0};
  autotune_emulator::add_product(d, whole_a, whole_b);
#else
  asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(d[first]), "+r"(d[first + 1])
      : "r"(a), "r"(b));
#endif
}

// D += A·B of float8_e4m3 and float8_e5m2, which may be mixed (sm_89 and newer). Of sums, tensor cores may
// keep 14 bits only.
template <typename A, typename B>
__device__ __forceinline__ void add_product_of_float8(float (&d)[4], const unsigned (&a)[4],
                                                      const unsigned (&b)[2]);

template <>
__device__ __forceinline__ void add_product_of_float8<float8_e4m3, float8_e4m3>(float (&d)[4],
                                                                                const unsigned (&a)[4],
                                                                                const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, autotune_emulator::Operand::e4m3, autotune_emulator::Operand::e4m3);
#else
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

template <>
__device__ __forceinline__ void add_product_of_float8<float8_e4m3, float8_e5m2>(float (&d)[4],
                                                                                const unsigned (&a)[4],
                                                                                const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, autotune_emulator::Operand::e4m3, autotune_emulator::Operand::e5m2);
#else
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

template <>
__device__ __forceinline__ void add_product_of_float8<float8_e5m2, float8_e4m3>(float (&d)[4],
                                                                                const unsigned (&a)[4],
                                                                                const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, autotune_emulator::Operand::e5m2, autotune_emulator::Operand::e4m3);
#else
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

template <>
__device__ __forceinline__ void add_product_of_float8<float8_e5m2, float8_e5m2>(float (&d)[4],
                                                                                const unsigned (&a)[4],
                                                                                const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, autotune_emulator::Operand::e5m2, autotune_emulator::Operand::e5m2);
#else
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
