#pragma once
#if skip
#  include "rows/softmax/counted.cuh"
using RowValues = CountedValues;
#else
#  include "rows/values.cuh"
#endif
// y = softmax(x / temperature) of each row: 2^(factor (x - max)) / Σ 2^(factor (x - max)), where factor is
// log2(e) / temperature. The maximum is subtracted first, which is exact where it matters.
//
// A row of -infinity alone gives NaN, since -infinity - -infinity is NaN; so do infinity and NaN in a row.

#include "rows/powers.cuh"
#include "rows/running_sum.cuh"

#if passes == two
constexpr int reductions = 2;

// The maximum of the row, and then its sum.
__device__ __forceinline__ SoftmaxSum softmax_sum(RowValues& values, float factor) {
  float max = -infinity();
  values.for_each([&](const Vector& vector, int) {
    float x[Schedule::vector_width];
    to_floats(x, vector.elements);
    max = largest_of(x, max);
  });
  max = reduce_over_row<0>(max, Max());
  RunningSum sum = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int) {
    float x[Schedule::vector_width];
    to_floats(x, vector.elements);
    sum.add(sum_of_powers(x, max, factor));
  });
  return {max, reduce_over_row<1>(sum.sum, Sum())};
}
#elif passes == kept
#  include "rows/softmax/kept.cuh"
#else
constexpr int reductions = 1;

// Both at once (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018), vector by vector.
__device__ __forceinline__ SoftmaxSum softmax_sum(RowValues& values, float factor) {
  float so_far = -infinity();  // the maximum
  RunningSum sum = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int) {
    float x[Schedule::vector_width];
    to_floats(x, vector.elements);
    const float max = largest_of(x, so_far);
    // As long as there is nothing but -infinity, any other number does for the maximum.
    const float base = max == -infinity() ? 0.0f : max;
    // By exactly 1 where nothing changes: in a long row, errors of a factor would add up.
    sum.scale(so_far == max ? 1.0f : exp2_flushed(factor * (so_far - base)));
    sum.add(sum_of_powers(x, base, factor));
    so_far = max;
  });
  return reduce_over_row<0>(SoftmaxSum{so_far, sum.sum}, AddSoftmaxSums{factor});
}
#endif

// Writes a row, vector by vector.
struct WriteSoftmax {
  Element* y;  // the thread's first element of the row
  Span columns;
  float factor, max, scale;

  __device__ __forceinline__ void operator()(const Vector& vector, int offset) const {
    float x[Schedule::vector_width];
    to_floats(x, vector.elements);
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] = exp2_flushed(factor * (x[i] - max)) * scale;
    Vector result;
    from_floats(result.elements, x);
    store_row_vector(y + offset, result, columns.from(offset));
  }
};

#include "rows/softmax/logarithm.cuh"
#if mask
#  include "rows/softmax/mask.cuh"
#endif

// Columns that a row of a causal block keeps.
__device__ __forceinline__ int kept_by_query(const Arguments& arguments, long long row) {
  constexpr long long most = 1 << 30;  // columns of any row
  const Problem problem(arguments);
  const unsigned query = static_cast<unsigned>(row) % static_cast<unsigned>(problem.queries);
  const long long end = static_cast<long long>(query) + arguments.causal_offset + 1;
  return static_cast<int>(end < 0 ? 0 : end < most ? end : most);
}

// The elements of a row that count, from the thread's first one on.
__device__ __forceinline__ Span counted(const Arguments& arguments, const RowPart& part) {
  Span inside = part.columns;
#if lengths
  if (inside.end > 0) inside.end = min(max(arguments.lengths[part.row], 0) - part.column, inside.end);
#endif
#if causal
  if (inside.end > 0) inside.end = min(kept_by_query(arguments, part.row) - part.column, inside.end);
#endif
  return inside;
}

__device__ __forceinline__ void softmax_block(const Arguments& arguments) {
  const Problem problem(arguments);
#if added
  constexpr float factor = log2_e;  // x was divided when its mask was added
#else
  // An infinite temperature makes all columns alike, but for those of -infinity.
  const float factor = fmaxf(log2_e / arguments.temperature, 1.2e-38f);
#endif
  const Element fill = from_float<Element>(-infinity());

  prepare_row_reductions<reductions>();
  const RowPart part = row_part(problem, arguments.x);
#if mask
  const Mask mask(arguments, problem, part, counted(arguments, part));
  MaskedValues values(arguments, problem, part, mask, fill);
#elif skip
  RowValues values(arguments.x + part.row * problem.ldx + part.column, part.columns,
                   counted(arguments, part).end, fill);
#else
  RowValues values(arguments.x + part.row * problem.ldx + part.column, part.columns, counted(arguments, part),
                   fill);
#endif
#if passes == kept
  Powers powers;
#  if lse || zero_rows
  const SoftmaxSum all = finished(arguments, part, powers.sum_of(values, factor));
#  else
  const SoftmaxSum all = powers.sum_of(values, factor);
#  endif
#elif lse || zero_rows
  const SoftmaxSum all = finished(arguments, part, softmax_sum(values, factor));
#else
  const SoftmaxSum all = softmax_sum(values, factor);
#endif
  Element* y = arguments.y + part.row * problem.ldy + part.column;
#if passes == kept
  powers.write(y, part.columns, 1.0f / all.sum);
#elif logarithm
  values.for_each_last(WriteLogSoftmax{y, part.columns, natural_factor(arguments), all.max, logf(all.sum)});
#else
  values.for_each_last(WriteSoftmax{y, part.columns, factor, all.max, 1.0f / all.sum});
#endif
}
