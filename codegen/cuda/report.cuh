#pragma once
// What a kernel reports that judges an output: those of verify.cuh, and the checker of an operator.

using u64 = unsigned long long;

// Joined from all warps: `wrong` and `max_error` start as 0, `first` as the largest value.
struct Report {
  u64 wrong;  // elements that are wrong
  u64 first;  // index of the first of them
  unsigned int
      max_error;  // bits of the largest finite absolute error: floats from 0 up are ordered like their bits
};

// The finaliser of SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014).
__device__ inline u64 mixed(u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ inline long long first_index() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ inline long long index_step() { return gridDim.x * (long long)blockDim.x; }

// One thread's findings, joined over the warp before they go to memory.
struct Findings {
  u64 wrong = 0;
  u64 first = ~0ull;
  unsigned int max_error = 0;

  __device__ void add_wrong(long long index) {
    wrong += 1;
    first = min(first, (u64)index);
  }

  __device__ void add_error(float error) {
    const unsigned int bits = __float_as_uint(error);
    const unsigned int infinity = 0x7f800000;
    if (bits < infinity) max_error = max(max_error, bits);
  }

  __device__ void write(Report* report) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      wrong += __shfl_xor_sync(~0u, wrong, lanes);
      first = min(first, __shfl_xor_sync(~0u, first, lanes));
      max_error = max(max_error, __shfl_xor_sync(~0u, max_error, lanes));
    }
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&report->max_error, max_error);
    if (wrong > 0) {
      atomicAdd(&report->wrong, wrong);
      atomicMin(&report->first, first);
    }
  }
};
