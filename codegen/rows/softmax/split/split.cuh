#pragma once
#include "rows/softmax/softmax.cuh"
#include "rows/split/piece.cuh"
// A launch leaves the sum of each piece in the workspace; the next one combines those of a row and writes it.

__device__ __forceinline__ float power_factor(const Arguments& arguments) {
  return fmaxf(log2_e / arguments.temperature, 1.2e-38f);
}

__device__ __forceinline__ RowValues piece_values(const Arguments& arguments, const Problem& problem,
                                                  const RowPart& part) {
  const Element* first = arguments.x + part.row * problem.ldx + part.column;
  return RowValues(first, part.columns, part.columns, from_float<Element>(-infinity()));
}

__device__ __forceinline__ void sum_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<reductions>();
  RowValues values = piece_values(arguments, problem, piece_of_row(problem, arguments.x, blockIdx.x));
  const SoftmaxSum sum = softmax_sum(values, power_factor(arguments));
  if (threadIdx.x == 0) static_cast<SoftmaxSum*>(arguments.workspace)[blockIdx.x] = sum;
}

__device__ __forceinline__ void write_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<reductions>();
  // From the last piece on, which L2 still has.
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  const RowPart part = piece_of_row(problem, arguments.x, block);
  const AddSoftmaxSums combine{power_factor(arguments)};
  SoftmaxSum all = sum_of_pieces(arguments, part.row, SoftmaxSum{-infinity(), 0.0f}, combine);
#if lse || zero_rows
  RowPart first = part;
  if (block % Schedule::blocks_per_row != 0) first.columns.end = 0;  // one piece's block states the row's lse
  all = finished(arguments, first, all);
#endif
  RowValues values = piece_values(arguments, problem, part);
  Element* y = arguments.y + part.row * problem.ldy + part.column;
#if logarithm
  values.for_each_last(WriteLogSoftmax{y, part.columns, natural_factor(arguments), all.max, logf(all.sum)});
#else
  values.for_each_last(WriteSoftmax{y, part.columns, power_factor(arguments), all.max, 1.0f / all.sum});
#endif
}
