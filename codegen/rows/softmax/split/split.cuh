#pragma once
#include "rows/softmax/softmax.cuh"
// Rows that many blocks share, each of which has a piece of one. A launch leaves the sum of each piece in the
// workspace; the next one combines those of a row, always in the same order, and writes the row.

// What a thread has of piece `block % blocks_per_row` of a row: whole rounds, but for the last piece.
__device__ __forceinline__ RowPart piece_of_row(const Problem& problem, const Element* x, unsigned block) {
  const long long row = block / Schedule::blocks_per_row;
  const int piece = block % Schedule::blocks_per_row;
#if skewed
  const auto address = reinterpret_cast<unsigned long long>(x + row * problem.ldx);
  const int ahead = static_cast<int>(address % 32 / sizeof(Element));  // see row_part
#else
  constexpr int ahead = 0;
#endif
  constexpr int all_step = Schedule::blocks_per_row * row_step;
  const int length = (1 + (ahead + problem.columns - 1) / all_step) * row_step;
  const int begin = piece * length - ahead;
  const int column = begin + static_cast<int>(threadIdx.x) * Schedule::vector_width;
  return {row, column, {-column, min(problem.columns, begin + length) - column}};
}

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

// The sum of a row, in all threads.
__device__ __forceinline__ SoftmaxSum sum_of_pieces(const Arguments& arguments, long long row) {
  const AddSoftmaxSums combine{power_factor(arguments)};
  const SoftmaxSum* sums = static_cast<SoftmaxSum*>(arguments.workspace) + row * Schedule::blocks_per_row;
  SoftmaxSum sum = {-infinity(), 0.0f};
  for (int i = threadIdx.x; i < Schedule::blocks_per_row; i += Schedule::threads) {
    sum = combine(sum, sums[i]);
  }
  return reduce_over_row<0>(sum, combine);
}

__device__ __forceinline__ void write_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<reductions>();
  // From the last piece on, which L2 still has.
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  const RowPart part = piece_of_row(problem, arguments.x, block);
  SoftmaxSum all = sum_of_pieces(arguments, part.row);
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
