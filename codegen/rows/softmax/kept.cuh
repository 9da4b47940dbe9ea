#pragma once
#include "rows/row.cuh"
// The exponentials of a row, each computed once: they wait as floats, in place of the words that were loaded.

#include "rows/powers.cuh"

constexpr int reductions = 2;

class Powers {
 public:
  // The maximum of the row, and then its sum.
  __device__ __forceinline__ SoftmaxSum sum_of(RowValues& values, float factor) {
#if skip
    clear();
#endif
    float max = -infinity();
    values.for_each([&](const Vector& vector, int offset) {
      float (&x)[Schedule::vector_width] = powers_[offset / row_step];
      to_floats(x, vector.elements);
      max = largest_of(x, max);
    });
    max = reduce_over_row<0>(max, Max());
    // A row of -infinity alone has the sum 0, whose inverse makes NaN of its powers.
    const float base = max == -infinity() ? 0.0f : max;
    float sum = 0.0f;
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
#if skip
      if (!values.counts(round * row_step)) continue;
#endif
      sum += replace_by_powers(powers_[round], base, factor);
    }
    return {max, reduce_over_row<1>(sum, Sum())};
  }

  // Writes the row, from the thread's first element on.
  __device__ __forceinline__ void write(Element* y, Span columns, float scale) const {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      float result[Schedule::vector_width];
#pragma unroll
      for (int i = 0; i < Schedule::vector_width; ++i) result[i] = powers_[round][i] * scale;
      Vector vector;
      from_floats(vector.elements, result);
      store_row_vector(y + round * row_step, vector, columns.from(round * row_step));
    }
  }

 private:
#if skip
  // Powers of vectors that do not count.
  __device__ __forceinline__ void clear() {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
#  pragma unroll
      for (int i = 0; i < Schedule::vector_width; ++i) powers_[round][i] = 0.0f;
    }
  }
#endif

  // The sum of what takes the place of x.
  __device__ __forceinline__ static float replace_by_powers(float (&x)[Schedule::vector_width], float max,
                                                            float factor) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      x[i] = exp2_flushed(factor * (x[i] - max));
      sum += x[i];
    }
    return sum;
  }

  float powers_[Problem::rounds][Schedule::vector_width];
};
