#pragma once
#include "matmul/gemm/wgmma_fragments.cuh"
#include "matmul/gemm/wgmma_tickets.cuh"
#include "matmul/sgemm/split_k_reduction.cuh"
// Tiles that blocks share along k: the sums of the consumers, as `SplitKReduction` takes them.

// Element j of vector i of a fragment.
__device__ __forceinline__ float& sum_of(Accumulators& sums, int vector, int j) {
  constexpr int of_product = Schedule::block_n / 8;
  return sums.d[vector / of_product][vector % of_product * Output::width + j];
}

// Leaves the sums in the workspace. True in the one block of those which share the tile that then has all of
// them, added up.
__device__ __forceinline__ bool add_up(Accumulators& sums, void* workspace, const Peers& peers) {
  const SplitKReduction split(workspace, peers);
  const bool last = split.store_partials([&](Output::Fragment& fragment, int first) {
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
#pragma unroll
      for (int j = 0; j < Output::width; ++j) fragment.elements[i][j] = sum_of(sums, first + i, j);
    }
  });
  if (!last) return false;
  for_each_fragment([&](int first) {
    Output::Fragment fragment;
    split.reduce(fragment, first);
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
#pragma unroll
      for (int j = 0; j < Output::width; ++j) sum_of(sums, first + i, j) = fragment.elements[i][j];
    }
  });
  return true;
}
