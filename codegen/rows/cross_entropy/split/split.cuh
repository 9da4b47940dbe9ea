#pragma once
#include "rows/cross_entropy/cross_entropy.cuh"
#include "rows/split/piece.cuh"
// A launch leaves the sums of each piece in the workspace; the next one combines those of a row into its
// loss, and writes the gradient if asked for.

struct AddLogitSums {
  __device__ __forceinline__ LogitSums operator()(const LogitSums& a, const LogitSums& b) const {
    const SoftmaxSum both = AddSoftmaxSums{log2_e}(SoftmaxSum{a.max, a.sum}, SoftmaxSum{b.max, b.sum});
    return {both.max, both.sum, a.total + b.total};
  }
};

__device__ __forceinline__ LogitSums sums_of_row(const Arguments& arguments, long long row) {
  return sum_of_pieces(arguments, row, LogitSums{-infinity(), 0.0f, 0.0f}, AddLogitSums());
}

__device__ __forceinline__ void sum_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  const RowPart part = piece_of_row(problem, arguments.x, blockIdx.x);
  const Span inside = RowTarget(arguments, problem, part).counted(part.columns);
  const Element* first = arguments.x + part.row * problem.ldx + part.column;
  const Logits logits(arguments, inside);
  RowValues values(first, part.columns, inside, from_float<Element>(-infinity()));
  const LogitSums sums = sums_of(values, logits, inside);
  if (threadIdx.x == 0) static_cast<LogitSums*>(arguments.workspace)[blockIdx.x] = sums;
}

__device__ __forceinline__ void store_loss(const Arguments& arguments, const Problem& problem, long long row,
                                           const RowTarget& target, const LogitSums& all, float logit) {
  const float loss = loss_of(arguments, problem, all, logit);
  arguments.loss[row] = target.ignored ? 0.0f : loss;
#if lse
  arguments.lse[row] = target.ignored ? 0.0f : lse_of(all);
#endif
}

#if gradient
__device__ __forceinline__ void end_row(const Arguments& arguments) {
  const Problem problem(arguments);
  // From the last piece on, which L2 still has.
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  const RowPart part = piece_of_row(problem, arguments.x, block);
  const RowTarget target(arguments, problem, part);
  const Span inside = target.counted(part.columns);
  const Element* x = arguments.x + part.row * problem.ldx;
  const Logits logits(arguments, inside);
  const bool first_of_row = block % Schedule::blocks_per_row == 0 && threadIdx.x == 0;
  // That which stores the gradient over the logit of the target reads it.
  const bool first = target.known ? is_first_to_write(part, target) : first_of_row;
  const float of_target = first && target.known ? to_float(x[target.column]) : not_a_number();
  const float upstream = upstream_of(arguments, problem, part);
  const LogitSums all = sums_of_row(arguments, part.row);
  if (first) store_loss(arguments, problem, part.row, target, all, logits.logit(of_target));
  RowValues values(x + part.column, part.columns, inside, from_float<Element>(-infinity()));
  values.for_each_last(WriteGradient(arguments, problem, part, logits, target, upstream, all.max,
                                     1.0f / all.sum, lse_of(all)));
}
#else
__device__ __forceinline__ void end_row(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x;
  const RowTarget target(arguments, problem, RowPart{row, 0, {0, problem.columns}});
  const float of_target =
      target.known ? to_float(arguments.x[row * problem.ldx + target.column]) : not_a_number();
  const LogitSums all = sums_of_row(arguments, row);
  const Logits logits(arguments, Span{0, problem.columns});
  if (threadIdx.x == 0) store_loss(arguments, problem, row, target, all, logits.logit(of_target));
}
#endif
