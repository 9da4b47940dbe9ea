#pragma once
#include "cuda/row_reduce.cuh"
// Of each so many entries of the table of integers, the least one and the largest one: masks tell from these
// what a tile may see.

constexpr int extremes_threads = 256;

// A warp takes Problem::extremes_of entries.
__device__ __forceinline__ void attention_extremes_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int index = (blockIdx.x * extremes_threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int first = index * Problem::extremes_of;
  if (first >= problem.integers_count) return;
  const int end = min(first + Problem::extremes_of, problem.integers_count);
  int least = arguments.integers[first], most = least;
  for (int i = first + lane; i < end; i += 32) {
    least = min(least, arguments.integers[i]);
    most = max(most, arguments.integers[i]);
  }
  least = reduce_lanes<32>(least, Min());
  most = reduce_lanes<32>(most, Max());
  if (lane == 0) reinterpret_cast<int2*>(arguments.extremes)[index] = make_int2(least, most);
}
