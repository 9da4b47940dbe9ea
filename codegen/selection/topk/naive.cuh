#pragma once
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#include "selection/topk/results.cuh"
// A block for each row, in as many rounds as there are results: each finds the best element that comes behind
// the one before it.

struct Larger {
  __device__ __forceinline__ Entry operator()(Entry a, Entry b) const { return a > b ? a : b; }
};

// The largest number below `before` that `order` makes of an entry from `floor` on; 0 if there is none.
template <int threads, class Order>
__device__ __forceinline__ Entry next_entry(const Element* row, int length, Entry floor, Entry before,
                                            Order order, Entry* scratch) {
  Entry best = 0;
  for (int column = threadIdx.x; column < length; column += threads) {
    const Entry entry = entry_of(key_of(row[column]), column), number = order(entry);
    if (entry >= floor && number < before && number > best) best = number;
  }
  best = reduce_row<threads>(best, Larger(), scratch);
  __syncthreads();
  return best;
}

template <int threads>
__device__ __forceinline__ void topk_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x;
  const Element* x = arguments.x + row * problem.ldx;
  Entry* scratch = dynamic_shared<Entry>();
#if lengths
  const int stated = arguments.lengths[row];
  const int length = stated < 0 ? 0 : stated < problem.columns ? stated : problem.columns;
#else
  const int length = problem.columns;
#endif
#if order == index
  const auto as_it_is = [](Entry entry) { return entry; };
  Entry floor = ~0ull;
  for (int place = 0; place < problem.k && place < length; ++place) {
    floor = next_entry<threads>(x, length, 0, floor, as_it_is, scratch);
  }
#else
  const Entry floor = 0;
#endif
  Entry before = ~0ull;
  for (int place = 0; place < problem.k; ++place) {
    before = next_entry<threads>(x, length, floor, before, result_order, scratch);
    if (threadIdx.x == 0) store_result(arguments, problem, row, place, before);
  }
}
