#pragma once
#include "cuda/tensor_copy.cuh"
// Bulk copies from shared to global memory (sm_90 and newer), issued and waited for by one thread. They see
// what threads wrote to the source only after a proxy fence of each of them.

// Copies consecutive bytes; both addresses and their number are multiples of 16.
__device__ __forceinline__ void bulk_store(void* global, const void* shared, int bytes) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::bulk_store(global, shared, bytes);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(bytes)
               : "memory");
#endif
}

// Writes a tile, which lies as `tensor_copy` lays it out, to the box of a tensor that begins at an element,
// whose place along each dimension is 0 or more; what lies behind the tensor is not written.
template <int rank>
__device__ __forceinline__ void tensor_store(const TensorMap& map, const int (&at)[rank],
                                             const void* shared) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::tensor_store(&map, at, rank, shared, false);
#elif __CUDA_ARCH__ >= 900
  const unsigned source = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (rank == 1) {
    asm volatile(
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
        "[%0, {%2}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 2) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  }
#endif
}

// Adds the tile to the box instead, element by element, each as by an atomic.
template <int rank>
__device__ __forceinline__ void tensor_add(const TensorMap& map, const int (&at)[rank], const void* shared) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::tensor_store(&map, at, rank, shared, true);
#elif __CUDA_ARCH__ >= 900
  const unsigned source = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (rank == 1) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group "
        "[%0, {%2}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 2) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
        "[%0, {%2, %3}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 3) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
        "[%0, {%2, %3, %4}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else if constexpr (rank == 4) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group "
        "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  } else {
    asm volatile(
        "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group "
        "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
        "r"(source), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
        : "memory");
  }
#endif
}

// Closes the group of the stores issued so far by this thread.
__device__ __forceinline__ void store_commit() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_commit();
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// Waits until at most `pending` of this thread's newest groups have not read their sources, which may be
// written from then on. A block may not end before.
template <int pending>
__device__ __forceinline__ void store_wait_read() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_wait(pending, true);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
#endif
}

// Waits until at most `pending` of this thread's newest groups are under way; this thread may read what the
// others wrote.
template <int pending>
__device__ __forceinline__ void store_wait() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::store_wait(pending, false);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
#endif
}
