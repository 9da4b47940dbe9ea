#pragma once
// Mean and variance in one pass over the differences from an origin that is near the mean: that of the row's
// first vector, so that no single element can be far from all others and be the origin, too. What cancels
// between mean square and squared mean is then as little as errors of differences are.

struct Sums {
  float differences, squares;
};

// Commutative bit for bit.
struct AddSums {
  __device__ __forceinline__ Sums operator()(Sums a, Sums b) const {
    return {a.differences + b.differences, a.squares + b.squares};
  }
};

// The mean of the first elements of a row, at most a vector; the first one if there are some that are not
// finite.
__device__ __forceinline__ float mean_of_first(const Element* row, int count) {
  float x[Schedule::vector_width];
#if skewed
#  pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) x[i] = i < count ? to_float(row[i]) : 0.0f;
#else
  row_floats(x, load_row_vector<false>(row, Span{0, count}, from_float<Element>(0.0f)));
#endif
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) sum += x[i];
  const float mean = sum / static_cast<float>(count);
  return fabsf(mean) < infinity() ? mean : x[0];
}

#if threads_per_row <= 32
// Of what the row's first thread has: another one could read it too late, since y may be x.
__device__ __forceinline__ float origin_of(const Arguments& arguments, const Problem& problem,
                                           const RowPart& part) {
  const bool has_first = part.column <= 0 && part.columns.end > 0;
  const int count = min(problem.columns, Schedule::vector_width + part.column);
  const float own = has_first ? mean_of_first(arguments.x + part.row * problem.ldx, count) : 0.0f;
  return __shfl_sync(0xffffffffu, own, 0, Schedule::threads_per_row);
}
#else
// All threads load it: those that store wait for them in a reduction.
__device__ __forceinline__ float origin_of(const Arguments& arguments, const Problem& problem,
                                           const RowPart& part) {
  const int count = min(problem.columns, Schedule::vector_width);
  return part.columns.end > 0 ? mean_of_first(arguments.x + part.row * problem.ldx, count) : 0.0f;
}
#endif

constexpr int reductions = 1;

__device__ __forceinline__ Statistics statistics_of(NormValues& values, float origin, int count, Span columns,
                                                    float eps) {
  const float elements = static_cast<float>(count);
  RunningSum sum = {0.0f, 0.0f}, squares = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float x[Schedule::vector_width];
    differences(x, vector, origin);
    const Span inside = columns.from(offset);
    add_term(sum, sum_of(x, inside, [](float value) { return value; }));
    add_term(squares, sum_of(x, inside, [](float value) { return value * value; }));
  });
  const Sums all = reduce_over_row<0>(Sums{sum.sum, squares.sum}, AddSums());
  const float mean = all.differences / elements;
  const float variance = fmaf(-mean, mean, all.squares / elements);
  return {origin, mean, rsqrtf((variance < 0.0f ? 0.0f : variance) + eps)};  // NaN stays NaN
}
