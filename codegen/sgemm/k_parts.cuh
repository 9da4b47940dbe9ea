#pragma once
#include "cuda/shared_memory.cuh"
#include "sgemm/multiply.cuh"

// Adds up, in order, the sums of the lanes and of the warps that share a part of a tile along k; those of the
// first part hold the total afterwards.
__device__ __forceinline__ void add_up_k_parts(Accumulators& sum) {
  constexpr int words = Schedule::thread_m * Schedule::thread_n;
  for (int distance = 1; distance < lanes_k; distance *= 2) {
#pragma unroll
    for (int word = 0; word < words; ++word) {
      float& mine = sum.c[word / Schedule::thread_n][word % Schedule::thread_n];
      mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    }
  }
  float* shared = dynamic_shared<float>() + tile_thread();
  for (int part = 1; part < Schedule::warps_k; ++part) {
    __syncthreads();
    if (lane_k() == 0 && warp_k() == part) {
#pragma unroll
      for (int word = 0; word < words; ++word) {
        shared[word * tile_threads] = sum.c[word / Schedule::thread_n][word % Schedule::thread_n];
      }
    }
    __syncthreads();
    if (holds_sum()) {
#pragma unroll
      for (int word = 0; word < words; ++word) {
        sum.c[word / Schedule::thread_n][word % Schedule::thread_n] += shared[word * tile_threads];
      }
    }
  }
}
