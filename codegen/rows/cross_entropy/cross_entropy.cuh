#pragma once
#include "rows/cross_entropy/sums.cuh"
#include "rows/cross_entropy/target.cuh"
#if gradient
#  include "rows/cross_entropy/gradient.cuh"
#endif
// The loss of each row of logits: log Σ exp(logit) less the logit of the target. The maximum is subtracted
// from all logits first, which is exact where it matters.
//
// A row with NaN or infinity in it, or of -infinity alone, gives NaN, and so does a target that no column
// has.

#include "rows/first_of_row.cuh"

// log Σ exp(logit): an infinite maximum, which no sum follows from.
__device__ __forceinline__ float lse_of(const LogitSums& all) {
  return fabsf(all.max) == infinity() ? all.max : all.max + logf(all.sum);
}

// The loss, of which the first thread of a row knows the logit of the target.
__device__ __forceinline__ float loss_of(const Arguments& arguments, const Problem& problem,
                                         const LogitSums& all, float logit) {
  float loss = logf(all.sum);
#if smoothed
  loss -= (1.0f - arguments.label_smoothing) * (logit - all.max);
  loss -= arguments.label_smoothing * (all.total / static_cast<float>(problem.columns) - all.max);
#else
  loss -= logit - all.max;
#endif
#if z_loss
  const float lse = lse_of(all);
  loss = fmaf(arguments.lse_square_scale * lse, lse, loss);
#endif
  return loss;
}

// Whether the thread stands for the first one of its row: the one that stores the gradient over the target.
// Another block could do so before a load by the first thread ends, which what that thread sends does not
// wait for.
__device__ __forceinline__ bool is_first_to_write(const RowPart& part, const RowTarget& target) {
  const int place = target.column - part.column;
  if (!target.known) return is_first_of_row(part);
  return 0 <= place && place < part.columns.end && place % row_step < Schedule::vector_width;
}

__device__ __forceinline__ void cross_entropy_block(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<reductions>();
  const RowPart part = row_part(problem, arguments.x);
#if early
  // On its way beside the row, which is loaded even if it is ignored.
  const long long given = loaded_target(arguments, problem, part);
#  if gradient
  const float upstream = upstream_of(arguments, problem, part);
#  endif
  const Span inside = part.columns;
#else
  const RowTarget target(arguments, problem, part);
  const Span inside = target.counted(part.columns);
#endif
  const Element* x = arguments.x + part.row * problem.ldx;
  const Logits logits(arguments, inside);
  RowValues values(x + part.column, part.columns, inside, from_float<Element>(-infinity()));
#if early
  const RowTarget target(arguments, problem, given);
#endif
#if gradient && cluster > 1
  const bool first = is_first_to_write(part, target);
#else
  const bool first = is_first_of_row(part);
#endif
  // Ahead of the reductions, after which others may store to the row.
  const float of_target = first && target.known ? to_float(x[target.column]) : not_a_number();
#if gradient && !early
  const float upstream = upstream_of(arguments, problem, part);
#endif
  const LogitSums all = sums_of(values, logits, inside);
  if (first) {
    const float loss = loss_of(arguments, problem, all, logits.logit(of_target));
    arguments.loss[part.row] = target.ignored ? 0.0f : loss;
#if lse
    arguments.lse[part.row] = target.ignored ? 0.0f : lse_of(all);
#endif
  }
#if gradient
#  if threads_per_row <= 32 && cluster == 1
  __syncwarp();
#  endif
  values.for_each_last(WriteGradient(arguments, problem, part, logits, target, upstream, all.max,
                                     1.0f / all.sum, lse_of(all)));
#endif
}
