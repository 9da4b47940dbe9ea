#pragma once
// Atomic additions of four neighbouring numbers in global memory (sm_90 and newer).

// Adds to target[0] to target[3], each as by an atomic; the address is a multiple of 16.
__device__ __forceinline__ void add_vector(float* target, const float (&values)[4]) {
#ifdef AUTOTUNE_EMULATOR
  for (int i = 0; i < 4; ++i) atomicAdd(target + i, values[i]);
#elif __CUDA_ARCH__ >= 900
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(target), "f"(values[0]),
               "f"(values[1]), "f"(values[2]), "f"(values[3])
               : "memory");
#endif
}
