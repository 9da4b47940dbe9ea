#pragma once
#include "cuda/philox.cuh"

// Seed and offset of random numbers, as codegen/model/random_state.py states them.
struct RandomState {
  unsigned long long seed, offset;

  // With what lies in device memory: pairs of a seed and an offset that are added, one for each row.
  __device__ __forceinline__ RandomState of_row(const unsigned long long* pairs, long long row) const {
    return {seed + pairs[2 * row], offset + pairs[2 * row + 1]};
  }

  // The words of four elements from 4·quad on.
  __device__ __forceinline__ void random(unsigned (&words)[4], unsigned long long quad) const {
    philox(words, quad, offset, seed);
  }
};
