#pragma once
// Products of the matrices that the lanes of a warp hold together.

namespace autotune_emulator {

// What a lane brings to mma.m16n8k16: its registers of A and B, and its sums.
struct Fragments {
  const unsigned int *a, *b;
  float* d;
  bool bfloat16;  // or float16
};

// D += A·B, by the fragments of all lanes of a warp.
void multiply(const Fragments* const (&lanes)[32]);

}  // namespace autotune_emulator
