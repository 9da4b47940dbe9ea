#pragma once
// Products of TF32 numbers by the tensor cores of a warp (sm_80 and newer): floats of which the 13 lowest
// bits do not count. A register holds one of them; otherwise fragments lie as those of tensor_core.cuh do,
// whose registers hold 4 bytes along k, too.

// The TF32 number next to a float, ties away from zero.
__device__ __forceinline__ unsigned round_to_tf32(unsigned value) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  unsigned result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(value)));
  return result;
#else
  const bool finite = (value & 0x7f800000u) != 0x7f800000u;
  return finite ? (value + 0x1000u) & ~0x1fffu : value;
#endif
}

// D += A·B for matrices of 16×8 and 8×8, whose numbers are rounded. All lanes of the warp take part.
__device__ __forceinline__ void add_product_of_tf32(float (&d)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::add_product(d, a, b, autotune_emulator::Operand::tf32, autotune_emulator::Operand::tf32);
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
