#pragma once
#include "rows/row.cuh"
// Rows that many blocks share, each of which has a piece of one.

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

// The sums that the blocks of a row left in the workspace, combined in all threads, always in the same order.
template <typename Sums, class Combine>
__device__ __forceinline__ Sums sum_of_pieces(const Arguments& arguments, long long row, Sums nothing,
                                              Combine combine) {
  const Sums* pieces = static_cast<const Sums*>(arguments.workspace) + row * Schedule::blocks_per_row;
  Sums sums = nothing;
  for (int i = threadIdx.x; i < Schedule::blocks_per_row; i += Schedule::threads) {
    sums = combine(sums, pieces[i]);
  }
  return reduce_over_row<0>(sums, combine);
}
