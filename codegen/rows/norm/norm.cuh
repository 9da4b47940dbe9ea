#pragma once
#include "rows/norm/statistics.cuh"
#include "rows/norm/values.cuh"
#include "rows/norm/weights.cuh"
// y = (x - mean) · rstd · (weight + weight_offset) + bias of each row. The mean is 0 unless rows are
// centered.

// Writes a row, vector by vector.
struct WriteNormalized {
  Element* y;  // the thread's first element of the row
  const Arguments& arguments;
  Span columns;
  int column;
  Statistics statistics;

  __device__ __forceinline__ void operator()(const Vector& vector, int offset) const {
    const Span inside = columns.from(offset);
    float x[Schedule::vector_width];
    differences(x, vector, statistics.origin);
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] = (x[i] - statistics.mean) * statistics.rstd;
#if weighted
    float weights[Schedule::vector_width];
    load_weights(weights, arguments.weight + column + offset, inside);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] *= weights[i] + arguments.weight_offset;
#endif
#if biased
    float biases[Schedule::vector_width];
    load_weights(biases, arguments.bias + column + offset, inside);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] += biases[i];
#endif
    Vector result;
    from_floats(result.elements, x);
    store_row_vector(y + offset, result, inside);
  }
};

#if statistics
__device__ __forceinline__ void store_statistics(const Arguments& arguments, const RowPart& part,
                                                 Statistics statistics) {
  const bool first = blockIdx.x % Schedule::cluster == 0 && threadIdx.x % Schedule::threads_per_row == 0;
  if (!first || part.columns.end <= 0) return;
#  if centered
  arguments.mean[part.row] = statistics.origin + statistics.mean;
#  endif
  arguments.rstd[part.row] = statistics.rstd;
}
#endif

__device__ __forceinline__ void norm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<reductions>();
  const RowPart part = row_part(problem, arguments.x);
  NormValues values(arguments, problem, part);
  const float origin = origin_of(arguments, problem, part);
  const Statistics found = statistics_of(values, origin, problem.columns, part.columns, arguments.eps);
#if statistics
  store_statistics(arguments, part, found);
#endif
  Element* y = arguments.y + part.row * problem.ldy + part.column;
  values.for_each_last(WriteNormalized{y, arguments, part.columns, part.column, found});
}
