#pragma once
#include "selection/chain_speculative_sampling/accepted.cuh"

// A thread for each row, which goes through places and tokens in turn.
__device__ __forceinline__ void speculate_row(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (row >= problem.rows) return;
  int accepted = 0;
  while (accepted < problem.drafts && is_accepted(arguments, problem, row, accepted)) ++accepted;
  const Rest rest(arguments, problem, row, accepted);
  Mass total = 0, through = 0;
  for (int column = 0; column < problem.columns; ++column) total += rest.at(column);
  const Mass drawn = __umul64hi(random_bits(arguments, problem, row, problem.drafts), total);
  int token = 0;
  while (total && (through += rest.at(token)) <= drawn) ++token;
  for (int place = 0; place <= problem.drafts; ++place) {
    store_place(arguments, problem, row, place, accepted, total ? token : -1);
  }
  arguments.accepted[row] = accepted;
}
