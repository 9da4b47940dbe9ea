#pragma once
#include "cuda/barrier.cuh"
#include "cuda/swizzle.cuh"
// Bulk copies from global to shared memory (sm_90 and newer), issued by one thread. A barrier counts their
// bytes: whoever waits for it may read them. They overwrite what threads wrote to the target only after a
// proxy fence.

// A member of `struct Arguments`, which the entry takes as `const __grid_constant__ Arguments`; it is defined
// there.
struct TensorMap;

// Dynamic shared memory for swizzled tiles, which begin at multiples of 1024 bytes.
template <typename T>
__device__ __forceinline__ T* tile_memory() {
#ifdef AUTOTUNE_EMULATOR
  return static_cast<T*>(autotune_emulator::dynamic_shared(1024));
#else
  extern __shared__ __align__(1024) unsigned char tile_bytes[];
  return reinterpret_cast<T*>(tile_bytes);
#endif
}

// Copies consecutive bytes; both addresses and their number are multiples of 16.
__device__ __forceinline__ void bulk_copy(void* shared, const void* global, int bytes, Barrier& barrier) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::bulk_copy(shared, global, bytes, &barrier);
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          static_cast<unsigned>(__cvta_generic_to_shared(shared))),
      "l"(global), "r"(bytes), "r"(barrier.address())
      : "memory");
#endif
}

// Copies the box of a tensor that begins at a row and a column; zeros where it reaches beyond the tensor, and
// the whole box counts at the barrier. Byte i of the box lies at `swizzled(i, …)`; the tile is aligned to 128
// bytes, a swizzled one to 1024.
__device__ __forceinline__ void tensor_copy(void* shared, const TensorMap& map, int row, int column,
                                            Barrier& barrier) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::tensor_copy(shared, &map, column, row, &barrier);
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], "
      "[%4];" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
      "l"(&map), "r"(column), "r"(row), "r"(barrier.address())
      : "memory");
#endif
}
