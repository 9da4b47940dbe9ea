#pragma once
#include "cuda/barrier.cuh"
// Thread block clusters (sm_90 and newer): blocks that run at the same time and read each other's shared
// memory. Without `__cluster_dims__` each block is a cluster of its own, and neither function may be called.

// Waits for all threads of the cluster; what they wrote before, all of them may read afterwards.
__device__ __forceinline__ void cluster_barrier() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::cluster_barrier(__LINE__);
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// The same in two steps: what this thread did not write to barriers (see `barriers_fence`) is not ordered.
__device__ __forceinline__ void cluster_arrive() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::cluster_arrive();
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::cluster_wait(__LINE__);
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// What this thread initialised of barriers becomes visible to the cluster, by the next arrival.
__device__ __forceinline__ void barriers_fence() {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// Writes a value of 4 or 8 bytes to where `target` is in the block of a rank, whose `barrier` counts its
// bytes. It waits for no earlier write of this thread, as a cluster barrier does (st.async).
template <typename T>
__device__ __forceinline__ void send_to_rank(T* target, int rank, const T& value, Barrier& barrier) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "st.async writes 4 or 8 bytes");
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::send_to_rank(target, rank, &value, sizeof(T), &barrier);
#elif __CUDA_ARCH__ >= 900
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(target));
  unsigned address, counter;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counter) : "r"(barrier.address()), "r"(rank));
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address),
                 "r"(*reinterpret_cast<const unsigned*>(&value)), "r"(counter)
                 : "memory");
  } else {
    const unsigned* words = reinterpret_cast<const unsigned*>(&value);
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(address),
        "r"(words[0]), "r"(words[1]), "r"(counter)
        : "memory");
  }
#endif
}

// What the block of a rank has in its shared memory at the place that `shared` has in this block's own.
template <typename T>
__device__ __forceinline__ const T* shared_of_rank(const T* shared, int rank) {
#ifdef AUTOTUNE_EMULATOR
  return static_cast<const T*>(autotune_emulator::shared_of_rank(shared, rank));
#elif __CUDA_ARCH__ >= 900
  const T* theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(shared), "r"(rank));
  return theirs;
#else
  return shared;
#endif
}

// Arrives at the barrier of a rank that stands where `barrier` does in this block's own shared memory. Who
// waits for it may overwrite what this thread has read; what this thread wrote is not ordered for other
// blocks, which would take a fence of the whole GPU.
__device__ __forceinline__ void arrive_at_rank(Barrier& barrier, int rank) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::mbarrier_arrive_at_rank(&barrier, rank);
#elif __CUDA_ARCH__ >= 900
  unsigned theirs;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(barrier.address()), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(theirs) : "memory");
#endif
}
