#pragma once
#include "matmul/gemm/wgmma_sums.cuh"

// How a thread's sums are counted: vectors of four, a fragment of two at a time where two divide them.
struct Output {
  static constexpr int width = 4;
  static constexpr int vectors = products_m * Schedule::block_n / 8;
  static constexpr int fragment_vectors = vectors % 2 == 0 ? 2 : 1;

  struct Fragment {
    alignas(16) float elements[fragment_vectors][width];
  };
};

// Calls `visit` with the first vector of each fragment.
template <class Visit>
__device__ __forceinline__ void for_each_fragment(Visit visit) {
#pragma unroll
  for (int first = 0; first < Output::vectors; first += Output::fragment_vectors) visit(first);
}
