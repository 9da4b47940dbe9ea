#pragma once
#include "rows/norm_backward/row_slopes.cuh"
#include "rows/norm_backward/weight_sums.cuh"
// With g = dy · (weight + weight_offset) and x̂ = (x - mean) · rstd, of each row
//   dx = rstd · (g - mean of g - x̂ · mean of g · x̂),
// without the mean of g where the mean of x is not subtracted. Blocks take rows in turn, and add up dy · x̂
// and dy of each column, the gradients of weights and biases.

// Writes dx of a row, and adds to the sums of its columns.
__device__ __forceinline__ void write_row(const LoadedRow& row, const RowColumns& mine, RowSlopes slopes,
                                          Element* dx, WeightSums& sums) {
  row.pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float normal[Schedule::vector_width], g[Schedule::vector_width], plain[Schedule::vector_width];
    mine.differences(normal, x, row.known.origin, round);
    mine.weigh(g, dy, round);
    row_floats(plain, dy);
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
#if centered && !saved
      normal[i] -= slopes.mean;
#endif
      normal[i] *= slopes.rstd;
#if centered
      g[i] -= slopes.mean_g;
#endif
      g[i] = slopes.rstd * (g[i] - normal[i] * slopes.slope);
    }
    sums.add(normal, plain, round);
    Vector result;
    from_floats(result.elements, g);
    store_row_vector(dx + round * row_step, result, mine.columns.from(round * row_step));
  });
}

__device__ __forceinline__ void norm_backward_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int column = threadIdx.x % Schedule::threads_per_row * Schedule::vector_width;
  const long long first = static_cast<long long>(blockIdx.x) * rows_per_block;
  RowTurns turns = {arguments, problem, column, first + threadIdx.x / Schedule::threads_per_row,
                    static_cast<long long>(gridDim.x) * rows_per_block};
  RowPairs rows(turns);
  const ColumnWeights weights(arguments, column, {0, problem.columns - column});
  WeightSums sums(arguments, problem, column);
  const float share = 1.0f / static_cast<float>(problem.columns);
  int turn = 0;
  // All threads of the block take part in each turn.
  for (long long begin = first; begin < problem.rows; begin += turns.step) {
    const LoadedRow row = rows.next(turns);
    const RowColumns mine = {weights, turns.columns(0)};
    const RowSlopes slopes = slopes_of(row, mine, share, arguments.eps, turn);
    write_row(row, mine, slopes, arguments.dx + turns.row * problem.ldd + column, sums);
    turns.row += turns.step;
    turn ^= 1;
  }
  sums.store();
}
