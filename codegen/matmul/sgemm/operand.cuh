#pragma once
#include "cuda/vector.cuh"
#include "matmul/sgemm/layout.cuh"
// The operands A and B as the code that moves them sees them.

// `along_k`: neighbours along k are neighbours in global memory, so that a copy to shared memory transposes.
// `guard_extent`: tiles may exceed the matrix across k, and are filled with zeros there.
#if k_major_a || k_major_b
// `k_major`: the copy does not transpose. Neighbours along k are neighbours in shared memory, too.
template <class Layout_, class Strips_, bool along_k_, int vector_, bool guard_extent_, bool k_major_>
#else
template <class Layout_, class Strips_, bool along_k_, int vector_, bool guard_extent_>
#endif
struct Operand {
  using Layout = Layout_;
  using Strips = Strips_;
  static constexpr bool along_k = along_k_;
  static constexpr int vector = vector_;
  static constexpr bool guard_extent = guard_extent_;
#if k_major_a || k_major_b
  static constexpr bool k_major = k_major_;
#endif
};

#if k_major_a || k_major_b
using OperandA = Operand<LayoutA, StripsM, !Problem::transpose_a, Schedule::vector_a, Problem::guard_m,
                         Problem::k_major_a>;

using OperandB =
    Operand<LayoutB, StripsN, Problem::transpose_b, Schedule::vector_b, Problem::guard_n, Problem::k_major_b>;
#else
using OperandA = Operand<LayoutA, StripsM, !Problem::transpose_a, Schedule::vector_a, Problem::guard_m>;

using OperandB = Operand<LayoutB, StripsN, Problem::transpose_b, Schedule::vector_b, Problem::guard_n>;
#endif

// Elements from a tile to the next along k, in an operand whose rows are `leading` elements apart.
template <class Operand>
__device__ __forceinline__ Problem::Index tile_step(Problem::Index leading) {
  return Operand::along_k ? Problem::Index{Schedule::block_k} : Schedule::block_k * leading;
}

// Whether the tiles that a loop copies may exceed the matrix along k. With residue_first none does, for the
// partial tile is copied ahead of the loop.
constexpr bool guard_k_in_loop = Problem::guard_k && !Problem::residue_first;

// Loads a vector of which `valid` elements, or more, are inside the matrix; the others become zeros.
template <int vector>
__device__ __forceinline__ void load_guarded(float (&elements)[vector], const float* source, int valid) {
  if (valid >= vector) {
    load_constant_vector<vector>(elements, source);
  } else {
#pragma unroll
    for (int i = 0; i < vector; ++i) elements[i] = i < valid ? __ldg(source + i) : 0.0f;
  }
}
