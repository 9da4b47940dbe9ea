#pragma once
#include "rows/cross_entropy/logits.cuh"
#include "rows/powers.cuh"
#include "rows/terms.cuh"
// The maximum of a row's logits, Σ exp(logit - maximum), and, where labels are smoothed, the sum of the
// logits.

struct LogitSums {
  float max;
  float sum;
  float total;
};

#if smoothed
// The sum of all logits of a row: a reduction after the others.
class Total {
 public:
  __device__ __forceinline__ explicit Total(Span inside) : inside_(inside) {}

  __device__ __forceinline__ void add(const float (&z)[Schedule::vector_width], int offset) {
    add_term(sum_, sum_of(z, inside_.from(offset), [](float logit) { return logit; }));
  }

  template <int reduction>
  __device__ __forceinline__ float of_row() const {
    return reduce_over_row<reduction>(sum_.sum, Sum());
  }

 private:
  Span inside_;
  RunningSum sum_ = {0.0f, 0.0f};
};
#else
class Total {
 public:
  __device__ __forceinline__ explicit Total(Span) {}
  __device__ __forceinline__ void add(const float (&)[Schedule::vector_width], int) {}
  template <int>
  __device__ __forceinline__ float of_row() const {
    return 0.0f;
  }
};
#endif

#if passes == two
constexpr int first_reductions = 2;

__device__ __forceinline__ LogitSums sums_of(RowValues& values, const Logits& logits, Span inside) {
  float max = -infinity();
  Total total(inside);
  values.for_each([&](const Vector& vector, int offset) {
    float z[Schedule::vector_width];
    logits.read(z, vector, offset);
    max = largest_of(z, max);
    total.add(z, offset);
  });
  max = reduce_over_row<0>(max, Max());
  RunningSum sum = {0.0f, 0.0f};
  values.for_each([&](const Vector& vector, int offset) {
    float z[Schedule::vector_width];
    logits.read(z, vector, offset);
    sum.add(sum_of_powers(z, max, log2_e));
  });
  const float powers = reduce_over_row<1>(sum.sum, Sum());
  return {max, powers, total.of_row<first_reductions>()};
}
#else
constexpr int first_reductions = 1;

// Both at once, vector by vector, as softmax has them.
__device__ __forceinline__ LogitSums sums_of(RowValues& values, const Logits& logits, Span inside) {
  float so_far = -infinity();  // the maximum
  RunningSum sum = {0.0f, 0.0f};
  Total total(inside);
  values.for_each([&](const Vector& vector, int offset) {
    float z[Schedule::vector_width];
    logits.read(z, vector, offset);
    const float max = largest_of(z, so_far);
    // As long as there is nothing but -infinity, any other number does for the maximum.
    const float base = max == -infinity() ? 0.0f : max;
    // By exactly 1 where nothing changes: in a long row, errors of a factor would add up.
    sum.scale(so_far == max ? 1.0f : exp2_flushed(log2_e * (so_far - base)));
    sum.add(sum_of_powers(z, base, log2_e));
    so_far = max;
    total.add(z, offset);
  });
#  if bulk
  // A warp finds its maximum first, so that each thread scales its sum once.
  const float largest = reduce_lanes<32>(so_far, Max());
  sum.scale(so_far == largest ? 1.0f : exp2_flushed(log2_e * (so_far - largest)));
  const SoftmaxSum of_warp = {largest, reduce_lanes<32>(sum.sum, Sum())};
  const SoftmaxSum all = reduce_warps_over_row<0>(of_warp, AddSoftmaxSums{log2_e});
#  else
  const SoftmaxSum all = reduce_over_row<0>(SoftmaxSum{so_far, sum.sum}, AddSoftmaxSums{log2_e});
#  endif
  return {all.max, all.sum, total.of_row<first_reductions>()};
}
#endif

#if smoothed
constexpr int reductions = first_reductions + 1;
#else
constexpr int reductions = first_reductions;
#endif
