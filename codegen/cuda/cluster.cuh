#pragma once
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
