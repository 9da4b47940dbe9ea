#pragma once
// Matrices of 8×8 16-bit numbers from shared memory to the fragments of tensor cores (ldmatrix, sm_75 and
// newer), and back (stmatrix, sm_90 and newer).

// Loads four matrices. Of matrix i, lane 8·i + r gives the address of row r: 16 bytes, aligned to them. With
// quad = lane / 4 and place = lane % 4, a lane gets row quad, columns 2·place and 2·place + 1 of each matrix,
// or with `transposed` column quad, rows 2·place and 2·place + 1; the first one is in the lower half of the
// register.
template <bool transposed>
__device__ __forceinline__ void load_matrices(unsigned (&registers)[4], const void* row) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::load_matrices(registers, row, transposed);
#else
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
  }
#endif
}

// Stores the transposes of four matrices.
__device__ __forceinline__ void store_transposed(void* row, const unsigned (&registers)[4]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_matrices(row, registers, true);
#elif __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(row))),
               "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3])
               : "memory");
#endif
}

// Stores four matrices, of which lanes have and give what `load_matrices` states.
__device__ __forceinline__ void store_matrices(void* row, const unsigned (&registers)[4]) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_matrices(row, registers);
#elif __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(row))),
               "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3])
               : "memory");
#endif
}
