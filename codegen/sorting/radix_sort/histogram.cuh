#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tickets.cuh"
#include "sorting/radix_sort/ranks.cuh"
#include "sorting/radix_sort/workspace.cuh"
// How often each digit of the keys of a row has each value, of all digits at once, and what passes need of
// that. Lanes count in copies of the table, so that equal digits meet less often.

__device__ __forceinline__ void count_all_digits(const Arguments& arguments) {
  constexpr int copies = Schedule::histogram_copies, threads = Schedule::histogram_threads;
  constexpr int loads = 8, step = threads * loads;
  const Problem problem(arguments);
  unsigned* table = dynamic_shared<unsigned>();
  for (int i = threadIdx.x; i < all_bins * copies; i += threads) table[i] = 0;
  __syncthreads();
  const unsigned pieces = gridDim.x / static_cast<unsigned>(problem.rows);  // of a row, a block each
  const long long row = blockIdx.x / pieces, tiles = (problem.columns + tile_keys - 1) / tile_keys;
  const Bits* keys = reinterpret_cast<const Bits*>(arguments.keys) + row * problem.columns;
  unsigned* own = table + threadIdx.x % copies;
  for (long long begin = blockIdx.x % pieces * static_cast<long long>(step); begin < problem.columns;
       begin += static_cast<long long>(pieces) * step) {
    Bits loaded[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const long long at = begin + i * threads + threadIdx.x;
      loaded[i] = at < problem.columns ? keys[at] : 0;
    }
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      if (begin + i * threads + threadIdx.x >= problem.columns) break;
      const Ordered key = ordered(loaded[i]);
#pragma unroll
      for (int pass = 0; pass < Problem::passes; ++pass) {
        const unsigned digit = digit_of(key, Problem::begin_bit + pass * Problem::digit_bits);
        atomicAdd(own + (pass * bins + digit) * copies, 1u);
      }
    }
  }
  __syncthreads();
  const Workspace workspace(arguments.workspace, problem.rows, tiles);
  Count* counts = workspace.counts + row * all_bins;
  for (int i = threadIdx.x; i < all_bins; i += threads) {
    unsigned sum = 0;
#pragma unroll
    for (int copy = 0; copy < copies; ++copy) sum += table[i * copies + copy];
    if (sum > 0) atomicAdd(counts + i, static_cast<Count>(sum));
  }
  if (!is_last_block(workspace.ended + row, static_cast<int>(pieces))) return;
  // The table has been read: what follows takes its place.
  Count* sums = dynamic_shared<Count>();
  Count* begins = workspace.begins + row * all_bins;
  const bool has_bin = threadIdx.x < bins;
  Count found[Problem::passes];
#pragma unroll
  for (int pass = 0; pass < Problem::passes; ++pass) {
    found[pass] = has_bin ? counts[pass * bins + threadIdx.x] : Count(0);
  }
  unsigned varying = 0;
#pragma unroll
  for (int pass = 0; pass < Problem::passes; ++pass) {
    const Count before = sum_before(found[pass], sums);
    if (has_bin) {
      begins[pass * bins + threadIdx.x] = before;
      counts[pass * bins + threadIdx.x] = 0;
    }
    const bool all_alike = __syncthreads_or(has_bin && found[pass] == static_cast<Count>(problem.columns));
    if (!all_alike) varying |= 1u << pass;
  }
  if (threadIdx.x == 0) workspace.varying[row] = varying;
}
