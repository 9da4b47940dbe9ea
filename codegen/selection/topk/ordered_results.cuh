#pragma once
#include "cuda/sort_entries.cuh"
#include "selection/topk/results.cuh"

constexpr int most_compared = 128;  // entries whose places are found by comparing each with all others

// The results of a row whose first k entries are in shared memory.
__device__ __forceinline__ void store_results(const Arguments& arguments, const Problem& problem,
                                              long long row, Entry* entries, int k) {
  int padded = k;
  if (k > most_compared) {
    for (padded = 1; padded < k;) padded *= 2;
  }
  for (int i = threadIdx.x; i < padded; i += threads) entries[i] = i < k ? result_order(entries[i]) : 0;
  __syncthreads();
  if (k > most_compared) sort_entries(entries, padded);
  for (int i = threadIdx.x; i < problem.k; i += threads) {
    const Entry entry = i < k ? entries[i] : 0;
    const int place = i < k && k <= most_compared ? place_among(entries, k, entry) : i;
    store_result(arguments, problem, row, place, entry);
  }
}
