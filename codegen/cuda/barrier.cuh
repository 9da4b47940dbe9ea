#pragma once
// Barriers in shared memory (mbarrier, sm_90 and newer). A phase completes when as many threads have arrived
// as it was initialised for, and as many bytes have landed as were expected. Phases have parity 0 and 1 in
// turn; the phase before the first counts as complete, with parity 1.

struct Barrier {
  unsigned long long state;

  // By one thread. The others may use it after a block barrier, bulk copies after a proxy fence of that
  // thread.
  __device__ __forceinline__ void init(int arrivals) {
#ifdef AUTOTUNE_EMULATOR
    autotune_emulator::mbarrier_init(this, arrivals);
#elif __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
#endif
  }

  // Arrives. What the thread did before, and what it knew of others, is known to all who wait for the phase.
  __device__ __forceinline__ void arrive() {
#ifdef AUTOTUNE_EMULATOR
    autotune_emulator::mbarrier_arrive(this);
#elif __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address()) : "memory");
#endif
  }

  // Arrives, and has the phase wait for the bytes of bulk copies.
  __device__ __forceinline__ void arrive_and_expect(int bytes) {
#ifdef AUTOTUNE_EMULATOR
    autotune_emulator::mbarrier_expect(this, bytes);
    autotune_emulator::mbarrier_arrive(this);
#elif __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
#endif
  }

  // Waits until the running phase is not that of the parity.
  __device__ __forceinline__ void wait(unsigned parity, int line = __builtin_LINE()) {
#ifdef AUTOTUNE_EMULATOR
    autotune_emulator::mbarrier_wait(this, parity, line);
#elif __CUDA_ARCH__ >= 900
    unsigned done;
    do {
      asm volatile(
          "{\n\t.reg .pred done;\n\t"
          "mbarrier.try_wait.parity.shared.b64 done, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, done;\n\t}"
          : "=r"(done)
          : "r"(address()), "r"(parity)
          : "memory");
    } while (!done);
#endif
  }

#ifndef AUTOTUNE_EMULATOR
  __device__ __forceinline__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(this));
  }
#endif
};

// What this thread wrote to shared memory, or knows that others wrote, becomes visible to bulk copies.
__device__ __forceinline__ void proxy_fence() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::proxy_fence();
#elif __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
