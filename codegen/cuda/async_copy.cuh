#pragma once
// Asynchronous copies from global to shared memory (cp.async, sm_80 and newer; sm_75 copies at once).

// Copies 4, 8 or 16 bytes; both addresses are multiples of that.
template <int bytes>
__device__ __forceinline__ void async_copy(void* shared, const void* global) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async copies 4, 8 or 16 bytes");
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::async_copy(shared, global, bytes, bytes);
#elif __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16) {  // .cg passes by L1, which only 16-byte copies may
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(global), "n"(bytes)
                 : "memory");
  }
#else
  for (int word = 0; word < bytes / 4; ++word) {
    static_cast<float*>(shared)[word] = static_cast<const float*>(global)[word];
  }
#endif
}

// The same at an edge: only the first valid_bytes are read, the rest becomes zeros. A part of a vector is
// copied word by word: though cp.async reads no more than it is told to, compute-sanitizer takes it for an
// access to the whole vector.
template <int bytes>
__device__ __forceinline__ void async_copy_guarded(void* shared, const void* global, int valid_bytes) {
  if (bytes > 4 && 0 < valid_bytes && valid_bytes < bytes) {
    for (int offset = 0; offset < bytes; offset += 4) {
      async_copy_guarded<4>(static_cast<char*>(shared) + offset, static_cast<const char*>(global) + offset,
                            valid_bytes - offset);
    }
    return;
  }
  const int read = valid_bytes > 0 ? bytes : 0;
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::async_copy(shared, global, bytes, read);
#elif __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(read)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(global), "n"(bytes),
                 "r"(read)
                 : "memory");
  }
#else
  for (int word = 0; word < bytes / 4; ++word) {
    static_cast<float*>(shared)[word] = read ? static_cast<const float*>(global)[word] : 0.0f;
  }
#endif
}

// Closes the group of the copies issued so far by this thread.
__device__ __forceinline__ void async_commit() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::async_commit();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most `pending` of this thread's newest groups are under way.
template <int pending>
__device__ __forceinline__ void async_wait() {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::async_wait(pending);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}
