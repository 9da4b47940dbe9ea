#pragma once
#include "sorting/move_key.cuh"
// Passes over runs, which are a key each at first, and twice as long after each pass.

// Two runs of a row that follow each other.
struct Pair {
  long long row, begin, middle, end;  // the row's first key, and columns
};

__device__ __forceinline__ Pair pair_of(const Problem& problem, long long row, long long begin,
                                        long long length) {
  Pair pair;
  pair.row = row * problem.columns;
  pair.begin = begin;
  pair.middle = begin + length < problem.columns ? begin + length : problem.columns;
  pair.end = begin + 2 * length < problem.columns ? begin + 2 * length : problem.columns;
  return pair;
}

// A thread for each key, which searches the other run for its place.
__device__ __forceinline__ void merge_keys(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= problem.rows * problem.columns) return;
  const long long own = i % problem.columns, length = 1ll << arguments.level;
  const Pair pair = pair_of(problem, i / problem.columns, own / (2 * length) * (2 * length), length);
  const Bits* keys = static_cast<const Bits*>(arguments.source) + pair.row;
  const bool of_a = own < pair.middle;
  const long long other = of_a ? pair.middle : pair.begin, end = of_a ? pair.end : pair.middle;
  const long long ahead = keys_ahead(keys, own, keys + other, end - other, of_a);
  move_key(arguments, pair.row, own, own + ahead - (of_a ? 0 : pair.middle - pair.begin));
}

// A thread for each pair of runs, whose keys it moves one after the other.
__device__ __forceinline__ void merge_pair(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long thread = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long length = 1ll << arguments.level, pairs = (problem.columns + 2 * length - 1) / (2 * length);
  if (thread >= problem.rows * pairs) return;
  const Pair pair = pair_of(problem, thread / pairs, thread % pairs * (2 * length), length);
  const Bits* keys = static_cast<const Bits*>(arguments.source) + pair.row;
  long long a = pair.begin, b = pair.middle;
  for (long long place = pair.begin; place < pair.end; ++place) {
    const bool from_a = b >= pair.end || (a < pair.middle && !is_behind(keys, a, keys, b));
    move_key(arguments, pair.row, from_a ? a : b, place);
    ++(from_a ? a : b);
  }
}
