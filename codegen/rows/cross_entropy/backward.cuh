#pragma once
#include "rows/cross_entropy/gradient.cuh"
// The gradient of a loss whose log Σ exp(logit) is known: no reduction over the row is left.

__device__ __forceinline__ void cross_entropy_backward_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const RowPart part = row_part(problem, arguments.x);
  const RowTarget target(arguments, problem, part);
  const Span inside = target.counted(part.columns);
  const Logits logits(arguments, inside);
  RowValues values(arguments.x + part.row * problem.ldx + part.column, part.columns, inside,
                   from_float<Element>(-infinity()));
  float lse = target.ignored ? 0.0f : arguments.lse[part.row];
  const float upstream = upstream_of(arguments, problem, part);
  if (lse == infinity()) lse = not_a_number();  // as the row's loss is; the formula serves for -infinity
  values.for_each_last(WriteGradient(arguments, problem, part, logits, target, upstream, lse, 1.0f, lse));
}
