#pragma once
#include "cuda/barrier.cuh"
#include "cuda/swizzle.cuh"
#include "cuda/tensor_map.cuh"
#include "cuda/tile_memory.cuh"
// Bulk copies from global to shared memory (sm_90 and newer), issued by one thread. A barrier counts their
// bytes: whoever waits for it may read them. They overwrite what threads wrote to the target only after a
// proxy fence.

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

// Copies the box of a tensor that begins at an element, such as {row, column}, whose place along each
// dimension may lie outside; zeros where the box reaches beyond the tensor, and the whole box counts at the
// barrier. Byte i of the box lies at `swizzled(i, …)`; the tile is aligned to 128 bytes, a swizzled one to
// 1024.
template <int rank>
__device__ __forceinline__ void tensor_copy(void* shared, const TensorMap& map, const int (&at)[rank],
                                            Barrier& barrier) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::tensor_copy(shared, &map, at, rank, &barrier);
#elif __CUDA_ARCH__ >= 900
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (rank == 1) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3}], [%2];" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 2) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4}], [%2];" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  }
#endif
}

// The same for several blocks of the cluster: each whose rank is a bit of the mask gets the box, at the place
// of `shared` in its own shared memory, and its own barrier counts the bytes.
template <int rank>
__device__ __forceinline__ void tensor_copy_to_ranks(void* shared, const TensorMap& map,
                                                     const int (&at)[rank], Barrier& barrier,
                                                     unsigned short mask) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::tensor_copy_to_ranks(shared, &map, at, rank, &barrier, mask);
#elif __CUDA_ARCH__ >= 900
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (rank == 1) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%4}], [%2], %3;" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "h"(mask), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 2) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%4, %5}], [%2], %3;" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "h"(mask), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "h"(mask), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "h"(mask), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "h"(mask), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]),
        "r"(at[0])
        : "memory");
  }
#endif
}
