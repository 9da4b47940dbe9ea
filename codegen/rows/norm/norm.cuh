#pragma once
#if quantized
#  include "cuda/narrow.cuh"
#endif
#include "rows/norm/statistics.cuh"
#include "rows/norm/values.cuh"
#include "rows/norm/weights.cuh"
// y = (x - mean) · rstd · (weight + weight_offset) + bias of each row. The mean is 0 unless rows are
// centered.

#include "rows/first_of_row.cuh"

// The results of a row, vector by vector.
struct Normalize {
  const Arguments& arguments;
  Span columns;
  int column;
  Statistics statistics;

  __device__ __forceinline__ void operator()(float (&x)[Schedule::vector_width], const Vector& vector,
                                             int offset) const {
    const Span inside = columns.from(offset);
    differences(x, vector, statistics.origin);
#if weighted
    float weights[Schedule::vector_width];
    load_weights(weights, arguments.weight + column + offset, inside);
#endif
#if biased
    float biases[Schedule::vector_width];
    load_weights(biases, arguments.bias + column + offset, inside);
#endif
    const float shift = statistics.mean * statistics.rstd;
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      x[i] *= statistics.rstd;
#if centered
      x[i] -= shift;
#endif
#if weighted
      x[i] *= weights[i] + arguments.weight_offset;
#endif
#if biased
      x[i] += biases[i];
#endif
    }
  }
};

#if quantized
using Result = Problem::Result;

// Writes a row in units of its scale, which its first thread stores; a row of zeros has the scale 0.
__device__ __forceinline__ void write_row(const Arguments& arguments, NormValues& values,
                                          const Normalize& normalize, const RowPart& part, Result* y) {
  float largest = 0.0f;
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    normalize(x, vector, offset);
    const Span inside = part.columns.from(offset);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      if (inside.has(i)) largest = max_nan(largest, fabsf(x[i]));
    }
  });
  largest = reduce_over_row<reductions>(largest, Max());
  if (is_first_of_row(part)) arguments.scale[part.row] = largest / Problem::largest;
  const float inverse = largest == 0.0f ? 0.0f : Problem::largest / largest;
  values.for_each_last([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    normalize(x, vector, offset);
    Packed<Result, Schedule::vector_width> result;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      result.elements[i] = from_float_saturated<Result>(x[i] * inverse);
    }
    store_row_vector(y + offset, result, part.columns.from(offset));
  });
}
constexpr int all_reductions = reductions + 1;
#else
using Result = Element;

__device__ __forceinline__ void write_row(const Arguments&, NormValues& values, const Normalize& normalize,
                                          const RowPart& part, Result* y) {
  values.for_each_last([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    normalize(x, vector, offset);
    Vector result;
    from_floats(result.elements, x);
    store_row_vector(y + offset, result, part.columns.from(offset));
  });
}
constexpr int all_reductions = reductions;
#endif

#if statistics
__device__ __forceinline__ void store_statistics(const Arguments& arguments, const RowPart& part,
                                                 Statistics statistics) {
  if (!is_first_of_row(part)) return;
#  if centered
  arguments.mean[part.row] = statistics.origin + statistics.mean;
#  endif
  arguments.rstd[part.row] = statistics.rstd;
}
#endif

__device__ __forceinline__ void norm_block(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<all_reductions>();
  const RowPart part = row_part(problem, arguments.x);
  NormValues values(arguments, problem, part);
  const float origin = origin_of(arguments, problem, part);
  const Statistics found = statistics_of(values, origin, problem.columns, part.columns, arguments.eps);
#if statistics
  store_statistics(arguments, part, found);
#endif
  Result* y = arguments.y + part.row * problem.ldy + part.column;
  write_row(arguments, values, Normalize{arguments, part.columns, part.column, found}, part, y);
}
