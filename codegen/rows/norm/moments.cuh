#pragma once
#include "cuda/cluster.cuh"
#include "cuda/special_functions.cuh"
#include "rows/row.cuh"
// Count, mean and sum of squared differences from the mean, of parts that are merged two by two (Chan, Golub
// and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979).

struct Moments {
  float count;
  float mean;
  float squares;
};

// Commutative bit for bit.
struct MergeMoments {
  __device__ __forceinline__ Moments operator()(Moments a, Moments b) const {
    const float count = a.count + b.count;
    const float share = count > 0.0f ? reciprocal(count) : 0.0f;
    const float mean = __fmul_rn(__fadd_rn(__fmul_rn(a.count, a.mean), __fmul_rn(b.count, b.mean)), share);
    const float between =
        (a.mean - b.mean) * (a.mean - b.mean) * __fmul_rn(__fmul_rn(a.count, b.count), share);
    return {count, mean, __fadd_rn(__fadd_rn(a.squares, b.squares), between)};
  }
};

// Those of a vector's elements inside of the row: its own mean first.
__device__ __forceinline__ Moments moments_of(const float (&x)[Schedule::vector_width], Span inside) {
  const int begin = max(inside.begin, 0), end = min(inside.end, Schedule::vector_width);
  if (end <= begin) return {0.0f, 0.0f, 0.0f};
  const float count = static_cast<float>(end - begin);
  const float mean = sum_of(x, inside, [](float value) { return value; }) / count;
  const auto square = [&](float value) { return (value - mean) * (value - mean); };
  return {count, mean, sum_of(x, inside, square)};
}

// To the block of a rank, in words: st.async writes 4 or 8 bytes.
__device__ __forceinline__ void send_to_rank(Moments* target, int rank, const Moments& value,
                                             Barrier& barrier) {
  send_to_rank(&target->count, rank, value.count, barrier);
  send_to_rank(&target->mean, rank, value.mean, barrier);
  send_to_rank(&target->squares, rank, value.squares, barrier);
}
