#pragma once
#include "sorting/radix_sort/naive.cuh"
// Passes of three launches, by two bits each: a block sorts its keys by a scan for each of the four ways, and
// leaves how many it has of each; the counts of all blocks, way by way, are scanned; a block moves its keys
// to where they go, those of a way together (Ha, Krüger and Silva, Fast Four-Way Parallel Radix Sorting on
// GPUs, 2009). A thread has a key.

template <int threads>
struct SplitShared {
  unsigned sums[2][threads];
  Bits keys[threads];
#if has_values
  Result values[threads];
#endif
};

// How many threads before have their flag set, and how many of the block (Hillis and Steele, Data Parallel
// Algorithms, 1986).
template <int threads>
__device__ __forceinline__ unsigned flags_before(bool flag, unsigned& all, unsigned (&sums)[2][threads]) {
  const int thread = threadIdx.x;
  int now = 0;
  sums[now][thread] = flag;
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    sums[1 - now][thread] = sums[now][thread] + (thread >= step ? sums[now][thread - step] : 0);
    now = 1 - now;
    __syncthreads();
  }
  const unsigned before = sums[now][thread] - flag;
  all = sums[now][threads - 1];
  __syncthreads();
  return before;
}

template <int threads>
__device__ __forceinline__ void split_block(const Arguments& arguments) {
  const Problem problem(arguments);
  SplitShared<threads>& shared = *dynamic_shared<SplitShared<threads>>();
  const long long pieces = pieces_of(arguments, problem);
  const long long row = blockIdx.x / pieces, block = blockIdx.x % pieces;
  const long long column = block * threads + threadIdx.x, at = row * problem.columns + column;
  const bool inside = column < problem.columns;
  const Bits key = inside ? static_cast<const Bits*>(arguments.source)[at] : 0;
  const unsigned digit = digit_of(ordered(key), arguments.shift);
  Count* table = static_cast<Count*>(arguments.table) + row * bins * pieces + block;
  unsigned place = 0, of_ways = 0;
  for (unsigned way = 0; way < bins; ++way) {
    unsigned of_way;
    const unsigned before = flags_before<threads>(inside && digit == way, of_way, shared.sums);
    if (digit == way) place = of_ways + before;
    of_ways += of_way;
    if (threadIdx.x == 0) table[way * pieces] = of_way;
  }
  if (inside) {
    shared.keys[place] = key;
#if indices
    const Result* values = static_cast<const Result*>(arguments.source_values);
    shared.values[place] = values == nullptr ? static_cast<Result>(column) : values[at];
#elif has_values
    shared.values[place] = static_cast<const Result*>(arguments.source_values)[at];
#endif
  }
  __syncthreads();
  if (!inside) return;
  static_cast<Bits*>(arguments.target)[at] = shared.keys[threadIdx.x];
#if has_values
  static_cast<Result*>(arguments.target_values)[at] = shared.values[threadIdx.x];
#endif
}

// Keys that a block has sorted by their digit go where those of the digit begin.
template <int threads>
__device__ __forceinline__ void move_split(const Arguments& arguments) {
  const Problem problem(arguments);
  unsigned* firsts = dynamic_shared<unsigned>();
  const long long pieces = pieces_of(arguments, problem);
  const long long row = blockIdx.x / pieces, block = blockIdx.x % pieces;
  const long long column = block * threads + threadIdx.x, first = row * problem.columns;
  const bool inside = column < problem.columns;
  const Bits* keys = static_cast<const Bits*>(arguments.source) + first;
  const Bits key = inside ? keys[column] : 0;
  const unsigned digit = digit_of(ordered(key), arguments.shift);
  if (inside && (threadIdx.x == 0 || digit != digit_of(ordered(keys[column - 1]), arguments.shift))) {
    firsts[digit] = threadIdx.x;
  }
  __syncthreads();
  if (!inside) return;
  const Count* table = static_cast<const Count*>(arguments.table) + row * bins * pieces + block;
  const Count place = table[digit * pieces] + threadIdx.x - firsts[digit];
  static_cast<Bits*>(arguments.target)[first + place] = key;
#if has_values
  static_cast<Result*>(arguments.target_values)[first + place] =
      static_cast<const Result*>(arguments.source_values)[first + column];
#endif
}
