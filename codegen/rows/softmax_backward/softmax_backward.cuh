#pragma once
#include "cuda/math.cuh"
#include "rows/row.cuh"
// dx = scale y (dy - Σ y dy) of each row; of a log-softmax, dx = scale (dy - e^y Σ dy). Outside of a row, y
// and dy are 0.

#include "rows/running_sum.cuh"

// Where a thread begins in a row, of which it reads `columns` from there on.
struct PairSource {
  const Element* x;  // y, from which dx is computed
  const Element* dy;
  Span columns;

  __device__ __forceinline__ Vector load(const Element* source, int offset) const {
    return load_row_vector<false>(source + offset, columns.from(offset), from_float<Element>(0.0f));
  }
};

#include "rows/row_pair.cuh"

// What a vector adds to the sum of its row.
__device__ __forceinline__ float part_of_sum(const Vector& y, const Vector& dy) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) {
#if logarithm
    sum += to_float(dy.elements[i]);
#else
    sum += to_float(y.elements[i]) * to_float(dy.elements[i]);
#endif
  }
  return sum;
}

__device__ __forceinline__ float gradient(float y, float dy, float sum) {
#if logarithm
  return y == -infinity() ? 0.0f : dy - exp2_flushed(log2_e * y) * sum;  // what is masked is a constant
#else
  return y * (dy - sum);
#endif
}

__device__ __forceinline__ void softmax_backward_block(const Arguments& arguments) {
  const Problem problem(arguments);
  prepare_row_reductions<1>();
  const RowPart part = row_part(problem, arguments.y);
  const long long first = part.row * problem.ldx + part.column;
  const RowPair pair(PairSource{arguments.y + first, arguments.dy + first, part.columns});
  RunningSum sum = {0.0f, 0.0f};
  pair.for_each([&](const Vector& y, const Vector& dy, int) { sum.add(part_of_sum(y, dy)); });
  const float total = reduce_over_row<0>(sum.sum, Sum());
  Element* dx = arguments.dx + part.row * problem.ldd + part.column;
  pair.for_each([&](const Vector& y, const Vector& dy, int round) {
    float result[Schedule::vector_width];
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      result[i] = arguments.scale * gradient(to_float(y.elements[i]), to_float(dy.elements[i]), total);
    }
    Vector vector;
    from_floats(vector.elements, result);
    store_row_vector(dx + round * row_step, vector, part.columns.from(round * row_step));
  });
}
