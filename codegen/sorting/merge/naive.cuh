#pragma once
#include "sorting/merge_path.cuh"

#if has_values
using Value = Problem::Value;
#endif

// Key i of `a`, or of `b` if i is not in `a`, goes to a place of the merged array.
__device__ __forceinline__ void move_key(const Arguments& arguments, const Problem& problem, long long i,
                                         long long place) {
  const bool of_a = i < problem.first;
  const long long at = of_a ? i : i - problem.first;
  reinterpret_cast<Bits*>(arguments.keys_out)[place] =
      reinterpret_cast<const Bits*>(of_a ? arguments.a : arguments.b)[at];
#if has_values
  reinterpret_cast<Value*>(arguments.values_out)[place] =
      reinterpret_cast<const Value*>(of_a ? arguments.a_values : arguments.b_values)[at];
#endif
}

// A key's place is the number of keys ahead of it in its own array, and in the other one.
__device__ __forceinline__ void merge_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= problem.first + problem.second) return;
  const Bits* a = reinterpret_cast<const Bits*>(arguments.a);
  const Bits* b = reinterpret_cast<const Bits*>(arguments.b);
  const bool of_a = i < problem.first;
  const long long own = of_a ? i : i - problem.first;
  const long long ahead =
      of_a ? keys_ahead(a, own, b, problem.second, true) : keys_ahead(b, own, a, problem.first, false);
  move_key(arguments, problem, i, own + ahead);
}

// A thread for each `keys` of the merged array, which it finds on the merge path.
template <int keys>
__device__ __forceinline__ void merge_chunk(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long count = problem.first + problem.second;
  const long long begin = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) * keys;
  if (begin >= count) return;
  const Bits* a = reinterpret_cast<const Bits*>(arguments.a);
  const Bits* b = reinterpret_cast<const Bits*>(arguments.b);
  long long i = keys_of_first(a, problem.first, b, problem.second, begin), j = begin - i;
  for (long long place = begin; place < begin + keys && place < count; ++place) {
    const bool from_a = j >= problem.second || (i < problem.first && !is_behind(a, i, b, j));
    move_key(arguments, problem, from_a ? i : problem.first + j, place);
    ++(from_a ? i : j);
  }
}
