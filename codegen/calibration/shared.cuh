#pragma once
#include "cuda/shared_memory.cuh"
// Reads shared memory, 16 bytes a thread without bank conflicts; word i of the tile is i. The tile has two
// vectors for each of 1024 threads, and a thread begins each pass elsewhere.

__device__ __forceinline__ void read_shared_block(const Arguments& arguments) {
  constexpr unsigned vectors = 2048, unroll = 8;
  uint4* tile = dynamic_shared<uint4>();
  for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x)
    tile[i] = {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
  __syncthreads();
  unsigned sum = 0, place = threadIdx.x;
#pragma unroll 1
  for (int pass = 0; pass < arguments.passes; ++pass) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) {
      const uint4 loaded = tile[place + u * 128];
      sum += loaded.x + loaded.y + loaded.z + loaded.w;
    }
    place = (place + 32) & (vectors / 2 - 1);
  }
  arguments.sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
