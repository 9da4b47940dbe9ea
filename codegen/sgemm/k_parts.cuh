#pragma once
#include "cuda/shared_memory.cuh"
#include "sgemm/multiply.cuh"

// Adds up, in order, the sums of the threads that share a part of a tile along k; those of the first part
// hold the total afterwards.
__device__ __forceinline__ void add_up_k_parts(Accumulators& sum) {
  constexpr int words = Schedule::thread_m * Schedule::thread_n;
  float* mine = dynamic_shared<float>() + threadIdx.x % tile_threads;
  for (int part = 1; part < Schedule::warps_k; ++part) {
    __syncthreads();
    if (k_part() == part) {
#pragma unroll
      for (int word = 0; word < words; ++word) {
        mine[word * tile_threads] = sum.c[word / Schedule::thread_n][word % Schedule::thread_n];
      }
    }
    __syncthreads();
    if (k_part() == 0) {
#pragma unroll
      for (int word = 0; word < words; ++word) {
        sum.c[word / Schedule::thread_n][word % Schedule::thread_n] += mine[word * tile_threads];
      }
    }
  }
}
