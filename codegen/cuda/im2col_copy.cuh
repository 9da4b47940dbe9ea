#pragma once
#include "cuda/barrier.cuh"
#include "cuda/swizzle.cuh"
#include "cuda/tensor_map.cuh"
#include "cuda/tile_memory.cuh"
// Bulk copies of the pixels that a tap of a filter meets (sm_90 and newer), issued by one thread. A barrier
// counts their bytes, as for `tensor_copy`.

// Copies a column of pixels, by a tensor map in im2col mode: from the base pixel at {n, h, w, c} (of rank 4)
// on, along w, then h, then n, inside of the map's bounding box, each moved by the tap's offsets {h, w};
// zeros where that is outside of the image. The columns of the tile lie one after the other, as rows of
// `tensor_copy`.
template <int rank>
__device__ __forceinline__ void im2col_copy(void* shared, const TensorMap& map, const int (&at)[rank],
                                            const int (&tap)[rank - 2], Barrier& barrier) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::im2col_copy(shared, &map, at, tap, rank, &barrier);
#elif __CUDA_ARCH__ >= 900
  static_assert(3 <= rank && rank <= 5, "images have one to three dimensions");
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (rank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[2]), "r"(at[1]), "r"(at[0]),
        "h"(static_cast<unsigned short>(tap[0]))
        : "memory");
  } else if constexpr (rank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]),
        "h"(static_cast<unsigned short>(tap[1])), "h"(static_cast<unsigned short>(tap[0]))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(target),
        "l"(&map), "r"(barrier.address()), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]),
        "h"(static_cast<unsigned short>(tap[2])), "h"(static_cast<unsigned short>(tap[1])),
        "h"(static_cast<unsigned short>(tap[0]))
        : "memory");
  }
#endif
}
