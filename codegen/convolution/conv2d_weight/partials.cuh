#pragma once
#include "cuda/numbers.cuh"
// What blocks leave to a second launch: sums of a part of the pixels, term by term, filters side by side.

// Where a block leaves its sums of a term.
__device__ __forceinline__ long long partials_place(const Problem& problem, int split, int term) {
  return (static_cast<long long>(split) * Problem::filter_terms + term) * problem.filters;
}

// The second launch: a thread for each term of a filter.
__device__ __forceinline__ void add_partials(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long elements = static_cast<long long>(Problem::filter_terms) * problem.filters;
  if (index >= elements) return;
  float sum = 0.0f;
  for (int split = 0; split < Schedule::splits; ++split) sum += arguments.partials[split * elements + index];
  const long long term = index / problem.filters, filter = index - term * problem.filters;
  const float found = arguments.alpha == 0.0f ? 0.0f : arguments.alpha * sum;
  arguments.d[filter * Problem::filter_terms + term] = from_float<Problem::Element>(found);
}
