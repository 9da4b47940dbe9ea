#pragma once
#include "cuda/cluster_writes.cuh"
#include "selection/sampling/cluster/select_by_blocks.cuh"
#include "selection/sampling/sampler.cuh"
// A cluster for each row, and a part of the row for each of its blocks. With top-k, the first block draws
// from what all of them selected. Otherwise they find largest number, sums and floor together, and the block
// whose part has the token draws it.

constexpr int blocks = Schedule::cluster;

struct ClusterMemory {
  SamplerMemory sampler;
  Entry first;          // of the block's part
  Entry floor;          // of the row
  Mass masses[blocks];  // of what may be drawn in their parts
#if top_k
  Entry of_row[candidates];
#endif
};

struct ClusterSampler {
  const Row& row;
  const Parameters& parameters;
  ClusterMemory& memory;
  int rank;
  Sampler sampler;
#if top_k

  // The first k entries of the row, in the memory of the first block.
  __device__ __forceinline__ void select_first(int k) {
    select_by_blocks<blocks>(sampler.selection, sampler.part, k, memory.of_row, rank);
  }

  // Drawn by the first block from its memory.
  __device__ __forceinline__ int draw_first(int k, Mass random) {
    const Entry first = sampler.largest_of(k);
    if (is_void(first)) return -1;
    sampler.weigh_by(first, parameters);
#  if top_p
    if (parameters.p < 1.0f) k = sampler.cut(k, share_of(parameters.p, sampler.mass_of(k)));
#  endif
    return sampler.draw_kept(k, random);
  }
#endif

  // The first entry of the row. Whoever asks passes another barrier of the cluster before it ends.
  __device__ __forceinline__ Entry largest() const {
    const Entry own = sampler.largest_of_row();
    if (threadIdx.x == 0) memory.first = own;
    cluster_barrier();
    Entry first = 0;
#pragma unroll
    for (int other = 0; other < blocks; ++other) {
      first = LargerEntry()(first, *shared_of_rank(&static_cast<const ClusterMemory&>(memory).first, other));
    }
    return first;
  }
#if top_p

  // The sum of each bin over all blocks takes the place of the block's own; returned is the row's mass. A
  // block adds up its share of the bins for all.
  __device__ __forceinline__ Mass sum_bins() const {
    Mass* bins = memory.sampler.of_bins;
    sampler.sum_bins();
    cluster_barrier();
    for (int i = rank + threadIdx.x * blocks; i < mass_bins; i += threads * blocks) {
      Mass sum = 0;
#  pragma unroll
      for (int other = 0; other < blocks; ++other) sum += *shared_of_rank(bins + i, other);
#  pragma unroll
      for (int other = 0; other < blocks; ++other) *shared_of_rank(bins + i, other) = sum;
    }
    if (threadIdx.x == 0) memory.sampler.found = 0;
    cluster_barrier();
    Mass own = 0, total;
    for (int i = threadIdx.x; i < mass_bins; i += threads) own += bins[i];
    sampler.before(own, total);
    return total;
  }

  // The last entry of those whose mass is a share of the row's, which the first block finds among those of a
  // bin, see Sampler.
  __device__ __forceinline__ Entry floor_of_share(Mass share) const {
    SamplerMemory& own = memory.sampler;
    const int bin = sampler.selection.bin_of(own.of_bins, share);
    sampler.collect_bin(bin, shared_of_rank(own.entries, 0), shared_of_rank(&own.found, 0));
    cluster_barrier();
    if (rank == 0) {
      Mass mass = 0;
      const Entry floor = sampler.floor_in_bin(RowPart{row, 0, row.vectors()}, bin, share, mass);
      if (threadIdx.x < blocks) *shared_of_rank(&memory.floor, threadIdx.x) = floor;
    }
    cluster_barrier();
    return memory.floor;
  }
#endif

  // What the row draws, as seen by a block: masses of blocks add up by their ranks, and it is no less than
  // the block's mass where another one has the token.
  __device__ __forceinline__ Mass share_of_blocks(Mass own, Mass random) const {
    if (threadIdx.x < blocks) *shared_of_rank(memory.masses + rank, threadIdx.x) = own;
    cluster_barrier();
    Mass before = 0, all = 0;
#pragma unroll
    for (int other = 0; other < blocks; ++other) {
      if (other < rank) before += memory.masses[other];
      all += memory.masses[other];
    }
    const Mass drawn = __umul64hi(random, all);
    return drawn < before ? own : drawn - before;
  }
};

__device__ __forceinline__ void sampling_cluster(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x / blocks;
  const int rank = blockIdx.x % blocks;
  const Row row(arguments, problem, number);
  const RowPart part = part_of<blocks>(row, rank);
  const Parameters parameters(arguments, number, problem.columns);
  ClusterMemory& memory = *dynamic_shared<ClusterMemory>();
  ClusterSampler cluster{row, parameters, memory, rank, {part, parameters, memory.sampler}};
  const Mass random = random_bits(arguments, number);
#if top_k
  if (!parameters.greedy && parameters.k > 0) {
    cluster.select_first(parameters.k);
    if (rank > 0) return;
    const int chosen = cluster.draw_first(parameters.k, random);
    if (threadIdx.x == 0) arguments.tokens[number] = chosen;
    return;
  }
#endif
  const Entry first = cluster.largest();
  if (is_void(first) || parameters.greedy) {
    if (rank == 0 && threadIdx.x == 0) arguments.tokens[number] = is_void(first) ? -1 : column_of(first);
    cluster_barrier();
    return;
  }
  cluster.sampler.weigh_by(first, parameters);
  Entry floor = 1;
#if top_p
  if (parameters.p < 1.0f) floor = cluster.floor_of_share(share_of(parameters.p, cluster.sum_bins()));
#endif
  const auto share = [&](Mass mass) { return cluster.share_of_blocks(mass, random); };
  const int chosen = cluster.sampler.draw_from(floor, share);
  if (chosen >= 0 && threadIdx.x == 0) arguments.tokens[number] = chosen;
}
