#pragma once
#include "rows/norm/weights.cuh"
#include "rows/norm_backward/row_pair.cuh"
#include "rows/norm_backward/weight_sums.cuh"
#include "rows/running_sum.cuh"
// With g = dy · (weight + weight_offset) and x̂ = (x - mean) · rstd, of each row
//   dx = rstd · (g - mean of g - x̂ · mean of g · x̂),
// without the mean of g where the mean of x is not subtracted. Statistics of the forward pass save a
// reduction where the mean is subtracted, and a pass over the row. Blocks take rows in turn, and add up dy ·
// x̂ and dy of each column, the gradients of weights and biases.

// Two sums at once.
struct SumPair {
  float first;
  float second;
};
struct AddPairs {
  __device__ __forceinline__ SumPair operator()(SumPair a, SumPair b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

// Over the threads of a row; calls that follow each other have other turns, of which there are two.
__device__ __forceinline__ SumPair add_over_row(RunningSum first, RunningSum second, int turn) {
  SumPair* scratch = reinterpret_cast<SumPair*>(slots_of(turn));
  return reduce_row<Schedule::threads_per_row>(SumPair{first.sum, second.sum}, AddPairs(), scratch);
}

// What a thread knows of its columns.
struct Columns {
  const Arguments& arguments;
  int first;
  Span columns;

  // g of a vector, of which dy is 0 outside of the row.
  __device__ __forceinline__ void weigh(float (&g)[Schedule::vector_width], const Vector& dy,
                                        int offset) const {
    to_floats(g, dy.elements);
#if weighted
    float weights[Schedule::vector_width];
    load_weights(weights, arguments.weight + first + offset, columns.from(offset));
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) g[i] *= weights[i] + arguments.weight_offset;
#endif
  }

  // x - origin of a vector inside of the row, 0 outside.
  __device__ __forceinline__ void differences(float (&x)[Schedule::vector_width], const Vector& vector,
                                              float origin, int offset) const {
    to_floats(x, vector.elements);
#if centered
    const Span inside = columns.from(offset);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) x[i] -= origin;
    if (inside.whole()) return;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      if (!inside.has(i)) x[i] = 0.0f;
    }
#endif
  }
};

// What the elements of a row have in common. `mean` is that of x - origin.
struct RowSlopes {
  float mean;
  float rstd;
  float mean_g;  // of g, or 0
  float slope;   // rstd² · mean of g · (x - mean)
};

#if saved
__device__ __forceinline__ RowSlopes slopes_of(const RowPair& pair, const Columns& mine, RowStatistics known,
                                               int count, float, int turn) {
  const float elements = static_cast<float>(count);
  RunningSum sum_g = {0.0f, 0.0f}, products = {0.0f, 0.0f};
  pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, known.origin, round * row_step);
    mine.weigh(g, dy, round * row_step);
    float part_g = 0.0f, product = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      part_g += g[i];
      product += g[i] * difference[i];
    }
    sum_g.add(part_g);
    products.add(product);
  });
  const SumPair found = add_over_row(sum_g, products, turn);
  const float mean_g = Problem::centered ? found.first / elements : 0.0f;
  return {0.0f, known.rstd, mean_g, known.rstd * known.rstd * (found.second / elements)};
}
#elif centered
__device__ __forceinline__ RowSlopes slopes_of(const RowPair& pair, const Columns& mine, RowStatistics known,
                                               int count, float eps, int) {
  const float elements = static_cast<float>(count);
  RunningSum sum = {0.0f, 0.0f}, sum_g = {0.0f, 0.0f};
  pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, known.origin, round * row_step);
    mine.weigh(g, dy, round * row_step);
    float part = 0.0f, part_g = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) part += difference[i], part_g += g[i];
    sum.add(part);
    sum_g.add(part_g);
  });
  const SumPair sums = add_over_row(sum, sum_g, 0);
  const float mean = sums.first / elements;
  RunningSum squares = {0.0f, 0.0f}, products = {0.0f, 0.0f};
  pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, known.origin, round * row_step);
    mine.weigh(g, dy, round * row_step);
    const Span inside = mine.columns.from(round * row_step);
    float square = 0.0f, product = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      const float centered = inside.whole() || inside.has(i) ? difference[i] - mean : 0.0f;
      square += centered * centered;
      product += g[i] * centered;
    }
    squares.add(square);
    products.add(product);
  });
  const SumPair found = add_over_row(squares, products, 1);
  const float rstd = rsqrtf(found.first / elements + eps);
  return {mean, rstd, sums.second / elements, rstd * rstd * (found.second / elements)};
}
#else
__device__ __forceinline__ RowSlopes slopes_of(const RowPair& pair, const Columns& mine, RowStatistics,
                                               int count, float eps, int turn) {
  const float elements = static_cast<float>(count);
  RunningSum squares = {0.0f, 0.0f}, products = {0.0f, 0.0f};
  pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    float difference[Schedule::vector_width], g[Schedule::vector_width];
    mine.differences(difference, x, 0.0f, round * row_step);
    mine.weigh(g, dy, round * row_step);
    float square = 0.0f, product = 0.0f;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      square += difference[i] * difference[i];
      product += g[i] * difference[i];
    }
    squares.add(square);
    products.add(product);
  });
  const SumPair found = add_over_row(squares, products, turn);
  const float rstd = rsqrtf(found.first / elements + eps);
  return {0.0f, rstd, 0.0f, rstd * rstd * (found.second / elements)};
}
#endif

// Writes dx of a row, and adds to the sums of its columns.
__device__ __forceinline__ void write_row(const RowPair& pair, const Columns& mine, float origin,
                                          RowSlopes slopes, Element* dx, WeightSums& sums) {
  pair.for_each([&](const Vector& x, const Vector& dy, int round) {
    const int offset = round * row_step;
    float difference[Schedule::vector_width], g[Schedule::vector_width], plain[Schedule::vector_width];
    mine.differences(difference, x, origin, offset);
    mine.weigh(g, dy, offset);
    to_floats(plain, dy.elements);
    float normal[Schedule::vector_width];
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      const float centered = difference[i] - slopes.mean;
      normal[i] = centered * slopes.rstd;
      g[i] = slopes.rstd * (g[i] - slopes.mean_g - centered * slopes.slope);
    }
    sums.add(normal, plain, round);
    Vector result;
    from_floats(result.elements, g);
    store_row_vector(dx + offset, result, mine.columns.from(offset));
  });
}

__device__ __forceinline__ void norm_backward_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int column = threadIdx.x % Schedule::threads_per_row * Schedule::vector_width;
  const long long step = static_cast<long long>(gridDim.x) * rows_per_block;
  WeightSums sums(arguments, problem, column);
  int turn = 0;
  const auto source_of = [&](long long row) {
    const long long place = row * problem.ldx + column;
    const int end = row < problem.rows ? problem.columns - column : 0;
    return PairSource{
        arguments.x + place, arguments.dy + place, {0, end}, statistics_of(arguments, row, end > 0)};
  };
  const auto own_row = [&](long long begin) { return begin + threadIdx.x / Schedule::threads_per_row; };
  long long begin = static_cast<long long>(blockIdx.x) * rows_per_block;
#if prefetch
  PairSource next_source = source_of(own_row(begin));
  RowPair next(next_source);
#endif
  // All threads of the block take part in each turn.
  for (; begin < problem.rows; begin += step) {
    const long long row = own_row(begin);
#if prefetch
    const PairSource source = next_source;
    const RowPair pair = next;
    next_source = source_of(own_row(begin + step));
    next = RowPair(next_source);
#else
    const PairSource source = source_of(row);
    const RowPair pair(source);
#endif
    const Columns mine = {arguments, column, source.columns};
    const RowSlopes slopes = slopes_of(pair, mine, source.known, problem.columns, arguments.eps, turn);
    write_row(pair, mine, source.known.origin, slopes, arguments.dx + row * problem.ldd + column, sums);
    turn ^= 1;
  }
  sums.store();
}
