#pragma once
#if capped
#  include "cuda/special_functions.cuh"
#endif
#include "rows/row_floats.cuh"
#include "rows/values.cuh"
// The logits of a row as they count: softcap tanh(x / softcap), if they are capped. Those that are not inside
// of the row are -infinity.

#if capped
class Logits {
 public:
  __device__ __forceinline__ Logits(const Arguments& arguments, Span inside)
      : inside_(inside),
        cap_(arguments.softcap),
        inverse_(1.0f / arguments.softcap),
        exponent_(-2.0f * log2_e / arguments.softcap) {}

  // tanh(|u|) is (1 - e) / (1 + e), where e is exp(-2 |u|).
  __device__ __forceinline__ float logit(float x) const {
    const float e = exp2_flushed(exponent_ * fabsf(x));
    const float size = cap_ * ((1.0f - e) * reciprocal(1.0f + e));
    return x < 0.0f ? -size : size;
  }

  // The derivative of a logit by x.
  __device__ __forceinline__ float slope(float logit) const {
    const float u = logit * inverse_;
    return fmaf(-u, u, 1.0f);
  }

  // Those of a vector that begins `offset` elements after the thread's first one.
  __device__ __forceinline__ void read(float (&z)[Schedule::vector_width], const Vector& vector,
                                       int offset) const {
    const Span inside = inside_.from(offset);
    row_floats(z, vector);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      z[i] = inside.whole() || inside.has(i) ? logit(z[i]) : -infinity();
    }
  }

 private:
  Span inside_;
  float cap_, inverse_, exponent_;
};
#else
class Logits {
 public:
  __device__ __forceinline__ Logits(const Arguments&, Span) {}
  __device__ __forceinline__ float logit(float x) const { return x; }
  __device__ __forceinline__ float slope(float) const { return 1.0f; }
  __device__ __forceinline__ void read(float (&z)[Schedule::vector_width], const Vector& vector, int) const {
    row_floats(z, vector);
  }
};
#endif
