#pragma once
#include "cuda/math.cuh"
#include "selection/order.cuh"
// What tokens weigh: floor(2^44 e^(x - max)) by one polynomial in steps that are rounded each, so that all
// devices and NumPy make the same integer. Sums of integers do not depend on their order.

using Mass = unsigned long long;

constexpr int weight_bits = 44;
constexpr int mass_bins = 2048;  // of entries that weigh about the same

struct Weights {
  float scale;  // 1 / temperature
  float top;    // the largest number, times the scale
  Mass least;   // weights below it count for nothing

#if source == probs
  // From 2^43 to 2^44 of the largest number; others are divided by the same power of 2.
  __device__ __forceinline__ Mass of(float number) const {
    if (!(number > 0.0f)) return 0;
    const int bits = __float_as_int(number), exponent = bits >> 23, highest = __float_as_int(top) >> 23;
    const Mass mantissa = static_cast<Mass>(bits & 0x7fffff | (exponent ? 0x800000 : 0))
                          << (weight_bits - 24);
    const int places = (highest ? highest : 1) - (exponent ? exponent : 1);
    return places < weight_bits ? mantissa >> places : 0;
  }

  // Higher for lower weights: the highest bits of numbers; the last bin for what weighs nothing.
  __device__ __forceinline__ int bin_of(float number) const {
    constexpr int rest = 18;  // bits of a number that do not count
    const int places = (__float_as_int(top) >> rest | 31) - (__float_as_int(number) >> rest);
    return number > 0.0f && places < mass_bins ? places : mass_bins - 1;
  }
#else
  // How often 2^44 is halved.
  __device__ __forceinline__ float halvings_of(float number) const {
    const float scaled = __fmul_rn(number, scale);
    const float distance = scaled == top ? 0.0f : __fadd_rn(top, -scaled);
    return __fmul_rn(distance, log2_e);
  }

  // Higher for lower weights; the last bin for what weighs nothing.
  __device__ __forceinline__ int bin_of(float number) const {
    constexpr int bins_of_half = mass_bins / (weight_bits + 1);
    const float halvings = halvings_of(number);
    return halvings < weight_bits + 1 ? static_cast<int>(halvings * bins_of_half) : mass_bins - 1;
  }

  // 2^44 of the largest number, and 0 of what has 2^-44 of its probability.
  __device__ __forceinline__ Mass of(float number) const {
    const float halvings = halvings_of(number);
    if (!(halvings < weight_bits + 1)) return 0;
    constexpr float units = 12582912.0f;  // 1.5 2^23, from which on floats are whole numbers
    const float rounded = __fadd_rn(halvings, units);
    const float rest = __fadd_rn(__fadd_rn(rounded, -units), -halvings);
    float power = 0.00015461447765119374f;  // 2^rest, from 0.7 to 1.5, with an error of 2^-23
    power = __fadd_rn(__fmul_rn(power, rest), 0.0013390866806730628f);
    power = __fadd_rn(__fmul_rn(power, rest), 0.009618056938052177f);
    power = __fadd_rn(__fmul_rn(power, rest), 0.055503569543361664f);
    power = __fadd_rn(__fmul_rn(power, rest), 0.24022650718688965f);
    power = __fadd_rn(__fmul_rn(power, rest), 0.6931471824645996f);
    power = __fadd_rn(__fmul_rn(power, rest), 1.0f);
    const int bits = __float_as_int(power);
    const Mass mantissa = static_cast<Mass>(bits & 0x7fffff | 0x800000) << (weight_bits - 23);
    return mantissa >> (__float_as_int(rounded) - __float_as_int(units) + 127 - (bits >> 23));
  }
#endif
  __device__ __forceinline__ Mass of(Entry entry) const { return of(value_of(key_of_entry(entry))); }

  // What counts of an element or an entry.
  template <typename Weighed>
  __device__ __forceinline__ Mass counted(Weighed weighed) const {
    const Mass weight = of(weighed);
    return weight < least ? 0 : weight;
  }
};

// The least whole number that is not below a share of a mass; the share is from 0 on, and below 1.
__device__ __forceinline__ Mass share_of(float share, Mass mass) {
  const Mass bits = static_cast<Mass>(share * 18446744073709551616.0f);
  return __umul64hi(bits, mass) + (bits * mass != 0);
}
#if source == probs

// The least weight that counts, if the first token has this one.
__device__ __forceinline__ Mass least_weight(float share, Mass first) {
  return share < 1.0f ? share_of(share > 0.0f ? share : 0.0f, first) : first;
}
#endif
