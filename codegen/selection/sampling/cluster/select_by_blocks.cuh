#pragma once
#include "cuda/cluster.cuh"
#include "selection/select.cuh"
// The blocks of a cluster select the first entries of a row, each from a part of it.

// What `blocks` of them have selected, `of_block` entries each with zeros among them, as what is selected
// from (entries.cuh).
template <int blocks>
struct SelectedByBlocks {
  const Entry* entries;
  int of_block;

  __device__ __forceinline__ int count() const { return blocks * of_block; }
  __device__ __forceinline__ Entry at(int i) const {
    return *shared_of_rank(entries + i % of_block, i / of_block);
  }

  template <class Take>
  __device__ __forceinline__ void for_each(Entry floor, Take take) const {
#pragma unroll 4
    for (int i = threadIdx.x; i < count(); i += threads) {
      const Entry entry = at(i);
      if (entry >= floor) take(entry, i);
    }
  }

#if samples > 0
  __device__ __forceinline__ void sample(Entry (&found)[sampled]) const {
#  pragma unroll
    for (int i = 0; i < sampled; ++i) {
      const long long number = static_cast<long long>(count()) * (threadIdx.x + i * threads);
      found[i] = at(static_cast<int>(number / (threads * sampled)));
    }
  }
#endif
};

// Leaves the first k entries of the row in `of_row` of the first block, which `selection` has there from then
// on. The row has as many entries, `part` those of the block of a rank.
template <int blocks>
__device__ __forceinline__ void select_by_blocks(Selection& selection, const RowPart& part, int k,
                                                 Entry* of_row, int rank) {
  const int count = part.count(), own = k < count ? k : count;
  selection.select(part, own);
  for (int i = own + threadIdx.x; i < k; i += threads) selection.entries[i] = 0;
  cluster_barrier();
  const SelectedByBlocks<blocks> all{selection.entries, k};
  selection.entries = of_row;
  if (rank == 0) selection.select(all, k);
  cluster_barrier();  // until then, it reads what others have
}
