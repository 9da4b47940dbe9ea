#pragma once
// Products of matrices by a warpgroup, which is four warps whose first has a number that four divides
// (sm_90a). The products themselves, of one size and type, are text of codegen/source/wgmma.py. Operands lie
// in shared memory, sums in registers: warp w has rows 16·w to 16·w + 15 of D, and its lanes share each 8
// columns of them as those of mma.m16n8k16 do (tensor_core.cuh).
//
// From a product until it is waited for, its operands may not be written and its sums not be accessed.
// Accesses of sums before products are ordered by `wgmma_fence`, and what threads wrote of operands by a
// proxy fence.

// How an operand lies in shared memory. Swizzled rows of 32, 64 or 128 bytes: 8 of them make a group, which
// begins at a multiple of 8 rows; groups are `stride_bytes` apart.
//
// - With k adjacent, rows are those of the operand, and a product takes 32 bytes of them: `tile` may begin so
// far into
//   a row. `leading_bytes` is not used.
// - With m or n adjacent, which 16-bit operands may be, rows are those of k. Spans of m or n as wide as a row
// are
//   `leading_bytes` apart.
//
// Without a swizzle, a group is 8 rows of 16 bytes. With k adjacent, groups are `leading_bytes` apart along
// k; with m or n adjacent, `stride_bytes` is along m or n, and `leading_bytes` along k.
template <int swizzle_bytes>
__device__ __forceinline__ unsigned long long matrix_descriptor(const void* tile, int leading_bytes,
                                                                int stride_bytes) {
  static_assert(swizzle_bytes == 0 || swizzle_bytes == 32 || swizzle_bytes == 64 || swizzle_bytes == 128,
                "a swizzle of 0, 32, 64 or 128 bytes");
  constexpr unsigned long long mode = swizzle_bytes == 0 ? 0 : swizzle_bytes == 32 ? 3 : 128 / swizzle_bytes;
#ifdef AUTOTUNE_EMULATOR
  const unsigned address = autotune_emulator::shared_address(tile);
#else
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
#endif
  return mode << 62 | static_cast<unsigned long long>(stride_bytes >> 4 & 0x3fff) << 32 |
         static_cast<unsigned long long>(leading_bytes >> 4 & 0x3fff) << 16 | (address >> 4 & 0x3fff);
}

// The descriptor of a tile that begins so many bytes later, a multiple of 16.
__device__ __forceinline__ unsigned long long advanced(unsigned long long descriptor, int bytes) {
  return descriptor + static_cast<unsigned>(bytes >> 4);
}

// The compiler moves no access to registers across this: arrays of sums, or arrays of those.
__device__ __forceinline__ void hold_in_place(float& sum) {
#ifndef AUTOTUNE_EMULATOR
  asm volatile("" : "+f"(sum)::"memory");
#endif
}
__device__ __forceinline__ void hold_in_place(int& sum) {
#ifndef AUTOTUNE_EMULATOR
  asm volatile("" : "+r"(sum)::"memory");
#endif
}
template <typename T, int count>
__device__ __forceinline__ void hold_in_place(T (&sums)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) hold_in_place(sums[i]);
}

// What this thread did to its sums comes before the products that follow. The warpgroup's threads call all of
// these functions together.
template <typename Sums>
__device__ __forceinline__ void wgmma_fence(Sums& sums) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::wgmma_fence();
#else
  hold_in_place(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

// Closes the group of the products issued so far.
__device__ __forceinline__ void wgmma_commit(int line = __builtin_LINE()) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::wgmma_commit(line);
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

// Waits until at most `pending` of the newest groups are under way.
template <int pending>
__device__ __forceinline__ void wgmma_wait(int line = __builtin_LINE()) {
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::wgmma_wait(pending, line);
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
}

// The same; these sums may be accessed then.
template <int pending, typename Sums>
__device__ __forceinline__ void wgmma_wait(Sums& sums, int line = __builtin_LINE()) {
  wgmma_wait<pending>(line);
#ifdef AUTOTUNE_EMULATOR
  autotune_emulator::check_sums(&sums, sizeof sums, line);
#else
  hold_in_place(sums);
#endif
}
