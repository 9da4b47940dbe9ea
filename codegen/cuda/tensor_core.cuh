#pragma once
#include "cuda/numbers.cuh"
// Products of small matrices by the tensor cores of a warp (sm_80 and newer). Operands are float16 or
// bfloat16, sums are float. A register holds two neighbouring elements, the first one in its lower half. The
// PTX manual shows which elements a lane has ("Matrix Fragments for mma.m16n8k16 with floating point type").
// With quad = lane / 4 and place = lane % 4, these are:
//
// - of A, 16×16: a[0] has row quad, columns 2·place and 2·place + 1, and a[1] the same of row quad + 8; a[2]
// and a[3] are 8 columns on;
// - of B, 16×8: b[0] has column quad, rows 2·place and 2·place + 1; b[1] is 8 rows on;
// - of D, 16×8: d[0] and d[1] are row quad, columns 2·place and 2·place + 1; d[2] and d[3] those of row quad
// + 8.
//
// A product stays the same if columns of A and rows of B change places alike.

// D += A·B for matrices of 16×16 and 16×8. All lanes of the warp take part.
template <typename Number>
__device__ __forceinline__ void add_product(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]);

template <>
__device__ __forceinline__ void add_product<float16>(float (&d)[4], const unsigned (&a)[4],
                                                     const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, false);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

template <>
__device__ __forceinline__ void add_product<bfloat16>(float (&d)[4], const unsigned (&a)[4],
                                                      const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, true);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// The same of float16 for matrices of 16×8 and 8×8 (sm_75 and newer), which are the first 8 terms: a[0], a[1]
// and b.
__device__ __forceinline__ void add_product_of_8(float (&d)[4], const unsigned (&a)[2], unsigned b) {
#ifdef AUTOTUNE_EMULATOR
  const unsigned whole_a[4] = {a[0], a[1], 0, 0}, whole_b[2] = {b, 0};
  autotune_emulator::add_product(d, whole_a, whole_b, false);
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

// The same of either type (sm_80 and newer).
template <typename Number>
__device__ __forceinline__ void add_half_product(float (&d)[4], const unsigned (&a)[2], unsigned b);

template <>
__device__ __forceinline__ void add_half_product<float16>(float (&d)[4], const unsigned (&a)[2], unsigned b) {
  add_product_of_8(d, a, b);
}

template <>
__device__ __forceinline__ void add_half_product<bfloat16>(float (&d)[4], const unsigned (&a)[2],
                                                           unsigned b) {
#ifdef AUTOTUNE_EMULATOR
  const unsigned whole_a[4] = {a[0], a[1], 0, 0}, whole_b[2] = {b, 0};
  autotune_emulator::add_product(d, whole_a, whole_b, true);
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}
