#pragma once
#include "cuda/special_functions.cuh"
// From products of a query and keys to weights, which are powers of 2, and what becomes of a row at its end.

// The weight of a product x is 2^(factor·(logit(x) - the largest logit)).
struct Scores {
  float factor;
#if softcap
  float inner;  // what tanh is taken of, of a product of 1
#endif
#if scored
  float scale;
#endif
#if scored || masked
  const Arguments* given;  // to fragments
#endif

  __device__ __forceinline__ explicit Scores(const Arguments& arguments) {
    const float scale = arguments.scale == 0.0f  ? static_cast<float>(Problem::usual_scale)
                        : arguments.scale > 0.0f ? arguments.scale
                                                 : __int_as_float(0x7fffffff);  // NaN shows what is wrong
#if scored || masked
    given = &arguments;
#endif
#if softcap
    inner = scale / arguments.softcap;
    factor = arguments.softcap * log2_e;
#elif scored
    this->scale = scale;
    factor = 1.0f;  // logits have it: of large ones, such as -1e9 for a mask, products would be rounded apart
#else
    factor = scale * log2_e;
#endif
  }

  __device__ __forceinline__ float logit(float product) const {
#if softcap
    return 1.0f - 2.0f * reciprocal(1.0f + exp2_flushed(2.0f * log2_e * inner * product));
#else
    return product;
#endif
  }

#if scored || masked
  // The logit of a pair of a query and a key, as fragments state it.
  __device__ __forceinline__ float logit(float product, int batch, int head, int query, int key) const {
#  if scored
    const float found = log2_e * Problem::score_of(scale * product, *given, batch, head, query, key);
#  else
    const float found = product;
#  endif
#  if masked
    return Problem::sees(*given, batch, head, query, key) ? found : -infinity();
#  else
    return found;
#  endif
  }
#endif
};

// What is subtracted from scaled logits, so that the largest weight is 1.
__device__ __forceinline__ float base_of(float largest, float factor) {
  return largest == -infinity() ? 0.0f : __fmul_rn(largest, factor);
}

// 2^(factor·logit - base).
__device__ __forceinline__ float weight_of(float logit, float factor, float base) {
  return exp2_flushed(fmaf(logit, factor, -base));
}

// What is left of sums whose base was that of another logit. Either base is rounded: that of a logit of 10⁹
// is off by up to 64, and so are all weights alike, which cancels out only if the same is subtracted here.
__device__ __forceinline__ float kept_of(float logit, float factor, float base) {
  return exp2_flushed(__fmul_rn(logit, factor) - base);
}

// What a row has at its end.
struct RowEnd {
  float factor;  // of the sums of values
  float lse;
};

// Of the largest logit, -infinity if there is none, and the sum of weights. A sink joins here; with it, the
// largest of all scores may be another.
__device__ __forceinline__ RowEnd end_of_row(const Arguments& arguments, float largest, float sum,
                                             float factor, int head) {
  constexpr float ln_2 = 0.693147180559945309f;
  float top = sum > 0.0f || sum != sum ? largest * factor : -infinity(), scale = 1.0f;
#if sinks
  const float sink = arguments.sinks[head] * log2_e, both = fmaxf(top, sink);
  if (both > -infinity()) {
    scale = exp2f(top - both);
    sum = sum * scale + exp2f(sink - both);
    top = both;
  }
#endif
  const bool nothing = sum == 0.0f;
  return {nothing ? 0.0f : scale / sum, nothing ? -infinity() : top * ln_2 + logf(sum)};
}
