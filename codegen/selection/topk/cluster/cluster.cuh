#pragma once
#include "cuda/shared_memory.cuh"
#include "selection/cluster_select.cuh"
#include "selection/topk/ordered_results.cuh"
// A cluster for each row, whose first block orders what all of its blocks have selected.

struct ClusterMemory {
  Entry entries[candidates];
  Entry of_row[candidates];
  int counts[threads / 32 * 2];
  int found;
};

__device__ __forceinline__ void topk_cluster(const Arguments& arguments) {
  constexpr int blocks = Schedule::splits;
  const Problem problem(arguments);
  ClusterMemory& memory = *dynamic_shared<ClusterMemory>();
  Selection selection{memory.entries, memory.counts, &memory.found};
  const long long number = blockIdx.x / blocks;
  const int rank = blockIdx.x % blocks;
  const Row row(arguments, problem, number);
  const int k = problem.k < row.length ? problem.k : row.length;
  select_by_blocks<blocks>(selection, part_of<blocks>(row, rank), k, memory.of_row, rank);
  if (rank == 0) store_results(arguments, problem, number, memory.of_row, k);
}
