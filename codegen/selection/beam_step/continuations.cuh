#pragma once
#include "selection/order.cuh"

// Of a beam's token; those of all of a request's beams have columns one after the other.
__device__ __forceinline__ Entry continuation(const Problem& problem, float score, float logarithm, int beam,
                                              int token) {
  return entry_of(key_of(score + logarithm), beam * problem.columns + token);
}

__device__ __forceinline__ void store_continuation(const Arguments& arguments, const Problem& problem,
                                                   long long request, int place, Entry entry) {
  const int beam = column_of(entry) / problem.columns, token = column_of(entry) % problem.columns;
  const long long row = request * problem.beams + beam;
  arguments.parents[request * problem.ldp + place] = beam;
  arguments.tokens[request * problem.ldt + place] = token;
  arguments.totals[request * problem.ldv + place] =
      arguments.scores[row] + arguments.x[row * problem.ldx + token];
}
