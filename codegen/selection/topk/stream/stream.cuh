#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tickets.cuh"
#include "selection/topk/results.cuh"
#include "selection/select.cuh"
#include "cuda/sort_entries.cuh"
// A block for each row, or `splits` blocks, the last of which selects from what each of them left.

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

__device__ __forceinline__ void topk_stream(const Arguments& arguments) {
  const Problem problem(arguments);
  Entry* entries = dynamic_shared<Entry>();
  int* counts = reinterpret_cast<int*>(entries + candidates);
  const Selection selection{entries, counts, counts + threads / 32 * 2};
  const long long number = blockIdx.x / Schedule::splits;
  const Row row(arguments, problem, number);
  const int k = problem.k < row.length ? problem.k : row.length;
#if splits > 1
  const int split = blockIdx.x % Schedule::splits;
  const RowPart part = part_of<Schedule::splits>(row, split);
  const int own = k < part.count() ? k : part.count();
  selection.select(part, own);
  Entry* all = static_cast<Entry*>(arguments.workspace);
  Entry* of_row = all + number * Schedule::splits * problem.k;
  for (int i = threadIdx.x; i < problem.k; i += threads) {
    of_row[static_cast<long long>(split) * problem.k + i] = i < own ? entries[i] : 0;
  }
  int* counters = reinterpret_cast<int*>(all + static_cast<long long>(gridDim.x) * problem.k);
  if (!is_last_block(counters + number, Schedule::splits)) return;
  selection.select(PartialResults{of_row, Schedule::splits * problem.k}, k);
#else
  selection.select(RowPart{row, 0, row.vectors()}, k);
#endif
  store_results(arguments, problem, number, entries, k);
}
