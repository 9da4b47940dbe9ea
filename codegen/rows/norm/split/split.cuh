#pragma once
#include "rows/norm/norm.cuh"
#include "rows/split/piece.cuh"
// A launch leaves the sums of each piece in the workspace; the next one combines those of a row and writes
// it.

#if centered
struct PieceSums {
  Moments moments;
  float origin;  // what they are differences from; y may take the place of the element that it was
};

// Those of a long piece: the mean so far comes from a compensated sum, so its errors do not add up.
__device__ __forceinline__ Moments moments_of_part(NormValues& values, float origin, Span columns) {
  constexpr Span whole = {0, Schedule::vector_width};
  float count = 0.0f, mean = 0.0f;
  RunningSum sum = {0.0f, 0.0f}, squares = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    const Span inside = columns.from(offset);
    float x[Schedule::vector_width];
    differences(x, vector, origin);
    const Moments more = inside.whole() ? moments_of(x, whole) : moments_of(x, inside);
    if (more.count == 0.0f) return;
    const float total = count + more.count, share = reciprocal(total), apart = mean - more.mean;
    add_term(squares, fmaf(apart * apart, count * more.count * share, more.squares));
    add_term(sum, more.count * more.mean);
    count = total;
    mean = sum.sum * share;
  });
  return {count, mean, squares.sum};
}

__device__ __forceinline__ PieceSums sums_of_piece(const Arguments& arguments, const Problem& problem,
                                                   NormValues& values, const RowPart& part) {
  const float origin = to_float(arguments.x[part.row * problem.ldx]);
  return {reduce_over_row<0>(moments_of_part(values, origin, part.columns), MergeMoments()), origin};
}

struct MergePieces {
  __device__ __forceinline__ PieceSums operator()(const PieceSums& a, const PieceSums& b) const {
    return {MergeMoments()(a.moments, b.moments), b.origin};
  }
};

__device__ __forceinline__ Statistics statistics_of_row(const Arguments& arguments, const Problem& problem,
                                                        long long row) {
  const PieceSums* first =
      static_cast<const PieceSums*>(arguments.workspace) + row * Schedule::blocks_per_row;
  const PieceSums nothing = {{0.0f, 0.0f, 0.0f}, first->origin};
  const PieceSums all = sum_of_pieces(arguments, row, nothing, MergePieces());
  const float variance = all.moments.squares / static_cast<float>(problem.columns);
  return {all.origin, all.moments.mean, rsqrtf(variance + arguments.eps)};
}
#else
using PieceSums = float;

__device__ __forceinline__ PieceSums sums_of_piece(const Arguments&, const Problem&, NormValues& values,
                                                   const RowPart& part) {
  RunningSum squares = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    row_floats(x, vector);
    add_term(squares, sum_of(x, part.columns.from(offset), [](float value) { return value * value; }));
  });
  return reduce_over_row<0>(squares.sum, Sum());
}

__device__ __forceinline__ Statistics statistics_of_row(const Arguments& arguments, const Problem& problem,
                                                        long long row) {
  const float squares = sum_of_pieces(arguments, row, 0.0f, Sum());
  return {0.0f, 0.0f, rsqrtf(squares / static_cast<float>(problem.columns) + arguments.eps)};
}
#endif

__device__ __forceinline__ void sum_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  const RowPart part = piece_of_row(problem, arguments.x, blockIdx.x);
  NormValues values(arguments, problem, part);
  const PieceSums sums = sums_of_piece(arguments, problem, values, part);
  if (threadIdx.x == 0) static_cast<PieceSums*>(arguments.workspace)[blockIdx.x] = sums;
}

__device__ __forceinline__ void write_piece(const Arguments& arguments) {
  const Problem problem(arguments);
  // From the last piece on, which L2 still has.
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  const RowPart part = piece_of_row(problem, arguments.x, block);
  const Statistics found = statistics_of_row(arguments, problem, part.row);
#if statistics
  if (block % Schedule::blocks_per_row == 0) store_statistics(arguments, part, found);
#endif
  NormValues values(arguments, problem, part);
  Result* y = arguments.y + part.row * problem.ldy + part.column;
  write_row(arguments, values, Normalize{arguments, part.columns, part.column, found}, part, y);
}
