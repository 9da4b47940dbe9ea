#pragma once
#include "rows/cross_entropy/logits.cuh"
#include "rows/cross_entropy/target.cuh"
// The gradient of a row's loss by its logits, times that of what follows from the loss.

// The gradient of a row's loss, which is loaded ahead of the reductions over the row.
__device__ __forceinline__ float upstream_of(const Arguments& arguments, const Problem& problem,
                                             const RowPart& part) {
#if shared_gradient
  return arguments.dloss[0];
#else
  return part.row < problem.rows ? arguments.dloss[part.row] : 0.0f;
#endif
}

struct WriteGradient {
  Element* row;  // the thread's first element of the row
  Span columns;
  Logits logits;
  bool ignored;
  int target;        // counted from the thread's first element
  float base;        // what exponents are relative to
  float factor;      // factor of exp(logit - base), NaN if the target is unknown
  float of_target;   // what the target has less,
  float everywhere;  // and what all elements have less

  __device__ __forceinline__ WriteGradient(const Arguments& arguments, const Problem& problem,
                                           const RowPart& part, const Logits& capped, const RowTarget& at,
                                           float upstream, float base, float scale, float lse)
      : row(arguments.d + part.row * problem.ldd + part.column),
        columns(part.columns),
        logits(capped),
        ignored(at.ignored),
        target(at.column - part.column),
        base(base),
        factor(at.known ? upstream * scale : not_a_number()),
        of_target(upstream),
        everywhere(0.0f) {
#if z_loss
    factor *= fmaf(2.0f * arguments.lse_square_scale, lse, 1.0f);
#endif
#if smoothed
    everywhere = upstream * (arguments.label_smoothing / static_cast<float>(problem.columns));
    of_target = upstream * (1.0f - arguments.label_smoothing);
#endif
  }

  __device__ __forceinline__ void operator()(const Vector& vector, int offset) const {
    float d[Schedule::vector_width] = {};
    if (!ignored) gradient_of(d, vector, offset);
    Vector result;
    from_floats(result.elements, d);
    store_row_vector(row + offset, result, columns.from(offset));
  }

 private:
  __device__ __forceinline__ void gradient_of(float (&d)[Schedule::vector_width], const Vector& vector,
                                              int offset) const {
    float z[Schedule::vector_width];
    logits.read(z, vector, offset);
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      d[i] = factor * exp2_flushed(log2_e * (z[i] - base)) - everywhere;
    }
    // One comparison for the vector, where one for each element would be a fifth of all instructions.
    const unsigned place = static_cast<unsigned>(target - offset);
    if (place < Schedule::vector_width) {
#pragma unroll
      for (int i = 0; i < Schedule::vector_width; ++i) {
        if (i == place) d[i] -= of_target;
      }
    }
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) d[i] *= logits.slope(z[i]);
  }
};
