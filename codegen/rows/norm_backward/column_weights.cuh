#pragma once
#include "rows/norm/weights.cuh"
// `ColumnWeights`: weight + weight_offset of the columns of a thread, which stay in registers while rows go
// by, unless rows may have any length.

#if !weighted
struct ColumnWeights {
  __device__ __forceinline__ ColumnWeights(const Arguments&, int, Span) {}
  __device__ __forceinline__ void apply(float (&)[Schedule::vector_width], int) const {}
};
#else
__device__ __forceinline__ void load_offset_weights(float (&weights)[Schedule::vector_width],
                                                    const Arguments& arguments, int column, Span inside) {
  load_weights(weights, arguments.weight + column, inside);
#  pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) weights[i] += arguments.weight_offset;
}
#endif

#if weighted && hold != reload
class ColumnWeights {
 public:
  // The thread has `columns` from `column` on.
  __device__ __forceinline__ ColumnWeights(const Arguments& arguments, int column, Span columns) {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      const int offset = round * row_step;
      load_offset_weights(weights_[round], arguments, column + offset, columns.from(offset));
    }
  }

  // Multiplies those of the columns of a round.
  __device__ __forceinline__ void apply(float (&g)[Schedule::vector_width], int round) const {
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) g[i] *= weights_[round][i];
  }

 private:
  float weights_[Problem::rounds][Schedule::vector_width];
};
#elif weighted
class ColumnWeights {
 public:
  __device__ __forceinline__ ColumnWeights(const Arguments& arguments, int column, Span columns)
      : arguments_(arguments), column_(column), columns_(columns) {}

  __device__ __forceinline__ void apply(float (&g)[Schedule::vector_width], int round) const {
    const int offset = round * row_step;
    float weights[Schedule::vector_width];
    load_offset_weights(weights, arguments_, column_ + offset, columns_.from(offset));
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) g[i] *= weights[i];
  }

 private:
  const Arguments& arguments_;
  int column_;
  Span columns_;
};
#endif
