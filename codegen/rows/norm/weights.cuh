#pragma once
#include "rows/row.cuh"
#include "rows/row_floats.cuh"
// Weights and biases: one number for each column, which every row reads again, from L1 or L2.

using Weight = Problem::Weight;

#if weights_between
// Rows begin between vectors, and weights do not: those of a vector lie in two of theirs.
__device__ __forceinline__ void load_from_two(float (&weights)[Schedule::vector_width], const Weight* first,
                                              int ahead) {
  using Weights = Packed<Weight, Schedule::vector_width>;
  constexpr int words = sizeof(Weights) / 4;
  union {
    Weights vectors[2];
    unsigned both[2 * words];
  };
#  pragma unroll
  for (int i = 0; i < 2; ++i) {
    vectors[i] = load_global<Schedule::vector_width, false>(first + i * Schedule::vector_width);
  }
  const unsigned bytes = ahead * sizeof(Weight);
#  pragma unroll
  for (int step = words / 2; step > 0; step /= 2) {
#  pragma unroll
    for (int i = 0; i + step < 2 * words; ++i) both[i] = bytes & 4 * step ? both[i + step] : both[i];
  }
  if constexpr (sizeof(Weight) == 2) {
#  pragma unroll
    for (int i = 0; i < words; ++i) both[i] = __byte_perm(both[i], both[i + 1], bytes & 2 ? 0x5432 : 0x3210);
  }
  row_floats(weights, vectors[0]);
}
#endif

// Those of a vector's columns, of which some are `inside` of the row.
__device__ __forceinline__ void load_weights(float (&weights)[Schedule::vector_width], const Weight* source,
                                             Span inside) {
#if weights_between
  const auto address = reinterpret_cast<unsigned long long>(source);
  const int ahead = address / sizeof(Weight) % Schedule::vector_width;
  if (inside.whole() && inside.end >= 2 * Schedule::vector_width - ahead) {
    load_from_two(weights, source - ahead, ahead);
    return;
  }
#endif
  if (inside.whole()) {
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; i += Problem::weight_width) {
      row_floats(weights + i, load_global<Problem::weight_width, false>(source + i));
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) {
    weights[i] = 0.0f;
#if partial
    if (inside.has(i)) weights[i] = to_float(source[i]);
#endif
  }
}
