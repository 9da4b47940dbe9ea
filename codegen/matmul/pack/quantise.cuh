#pragma once
#include "cuda/math.cuh"
#if weights == fp8
#  include "cuda/narrow.cuh"
#else
#  include "cuda/numbers.cuh"
#endif
// The range of a group of weights, the scale and the zero point that follow from it, and codes: by the rule
// of quantise.py, bit for bit.

using Element = Problem::Element;
using Scale = Problem::Scale;
using Code = Problem::Code;

// The largest size of some weights; with a zero point, the smallest and the largest of them and 0.
struct Range {
#if zeros
  float low;
#endif
  float high;

  __device__ __forceinline__ void add(float w) {
#if zeros
    low = min_nan(low, w);
    high = max_nan(high, w);
#else
    high = max_nan(high, fabsf(w));
#endif
  }

  __device__ __forceinline__ float spread() const {
#if zeros
    return fabsf(high - low);  // rather than -0
#else
    return high;
#endif
  }
};

struct Both {
  __device__ __forceinline__ Range operator()(Range a, Range b) const {
#if zeros
    a.low = min_nan(a.low, b.low);
#endif
    a.high = max_nan(a.high, b.high);
    return a;
  }
};

constexpr float largest_float = 3.40282347e38f;
#if weights != fp8
constexpr float aligner =
    12582912.0f;  // whose last bit is worth 1: the last bits of a sum with it are a code

// The nearest whole number to a·b, as a sum with `aligner`, from `least` to `most`; NaN becomes the least
// one.
__device__ __forceinline__ float rounded_product(float a, float b, float least, float most) {
  return fminf(fmaxf(__fadd_rn(__fmul_rn(a, b), aligner), aligner + least), aligner + most);
}
#endif

// What makes codes of the weights of a group.
struct Scaling {
  Scale scale;
  float inverse;
#if zeros
  float zero;  // a whole number
#elif weights != fp8
  static constexpr float zero = Problem::zero;
#endif

  Scaling() = default;
  explicit __device__ __forceinline__ Scaling(Range range) {
    const float spread = range.spread();
    const float exact = fminf(spread / Problem::steps, largest_float);
#if scale_is_float32
    scale = exact;
#else
    scale = from_float_saturated<Scale>(exact);
#endif
    if (!(spread <= largest_float)) scale = from_float<Scale>(__int_as_float(0x7fffffff));
    const float rounded = to_float(scale);
    inverse = rounded > 0.0f ? fminf(1.0f / rounded, largest_float) : 0.0f;
#if zeros
    zero = rounded_product(-range.low, inverse, Problem::least, Problem::most) - aligner;
#endif
  }

#if weights == fp8
  __device__ __forceinline__ Code code(float w) const {
    return from_float_saturated<Code>(__fmul_rn(w, inverse));
  }
#else
  // In the last bits.
  __device__ __forceinline__ unsigned code(float w) const {
    const float steps = rounded_product(w, inverse, Problem::least - zero, Problem::most - zero);
    return __float_as_uint(steps) + static_cast<int>(zero);
  }
#endif
};

// The codes of some weights as they are stored.
template <int count, int stored>
__device__ __forceinline__ void to_codes(Code (&codes)[stored], const float (&w)[count],
                                         const Scaling& scaling) {
#pragma unroll
  for (int i = 0; i < stored; ++i) {
#if weights == fp8
    codes[i] = scaling.code(w[i]);
#elif weights == int8
    codes[i] = static_cast<Code>(scaling.code(w[i]));
#else
    codes[i] = static_cast<Code>((scaling.code(w[2 * i]) & 15u) | scaling.code(w[2 * i + 1]) << 4);
#endif
  }
}
