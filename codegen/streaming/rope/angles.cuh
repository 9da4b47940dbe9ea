#pragma once
#include "cuda/packed.cuh"
// Sines and cosines of the pairs of a unit, by the position of a token.

__device__ __forceinline__ long long position_of(const Arguments& arguments, const Problem& problem,
                                                 long long token) {
#if sequences
  token %= problem.sequence;
#endif
#if positions == offset
  return arguments.offset + token;
#else
  return load_global<1, false>(arguments.positions + token).elements[0];
#endif
}

#if angles == computed
// Turns from a position to the next, of pairs from `first` on.
template <int pairs>
__device__ __forceinline__ void frequencies(double (&turns)[pairs], const Arguments& arguments,
                                            const Problem& problem, int first) {
  const double exponent = -2.0 / problem.rotated * log2(arguments.theta), ratio = exp2(exponent);
  const double low = arguments.low_freq_factor, span = 1.0 / (arguments.high_freq_factor - low);
  const double least = 1.0 / arguments.factor;
  double plain = 0.15915494309189534 * exp2(first * exponent);
#  pragma unroll
  for (int i = 0; i < pairs; ++i) {
    // Llama 3.1: wavelengths that are long compared with the old context are stretched.
    const double kept = (arguments.old_context * plain - low) * span;
    const double share = kept > 0.0 ? (kept < 1.0 ? kept : 1.0) : 0.0;
    turns[i] = plain * (share + (1.0 - share) * least);
    plain *= ratio;
  }
}

// A frequency as a fraction of a turn in units of 2^-64: its product with a position, whose whole turns do
// not fit, is an exact reduction.
__device__ __forceinline__ unsigned long long fraction_of_turn(double turns) {
  return static_cast<unsigned long long>((turns - floor(turns)) * 18446744073709551616.0);
}

// Of the pairs from `first` on.
template <int pairs>
__device__ __forceinline__ void angles_at(float (&cosines)[pairs], float (&sines)[pairs],
                                          const Arguments& arguments, const Problem& problem,
                                          long long position, int first) {
  double frequency[pairs];
  frequencies(frequency, arguments, problem, first);
#  pragma unroll
  for (int i = 0; i < pairs; ++i) {
    const unsigned long long step = fraction_of_turn(frequency[i]);
    const unsigned long long turns = static_cast<unsigned long long>(position) * step;
    const float half_turns = static_cast<float>(static_cast<int>(turns >> 32)) * 4.656612873077393e-10f;
    sincospif(half_turns, sines + i, cosines + i);
  }
}
#else
template <int pairs>
__device__ __forceinline__ void load_angles(float (&target)[pairs], const float* source) {
  constexpr int width = Problem::table_width;
#  pragma unroll
  for (int i = 0; i < pairs; i += width) {
    const Packed<float, width> loaded = load_global<width, false>(source + i);
#  pragma unroll
    for (int j = 0; j < width; ++j) target[i + j] = loaded.elements[j];
  }
}

// Of the pairs from `first` on.
template <int pairs>
__device__ __forceinline__ void angles_at(float (&cosines)[pairs], float (&sines)[pairs],
                                          const Arguments& arguments, const Problem& problem,
                                          long long position, int first) {
  const float* row = arguments.table + (position * problem.rotated + first);
  load_angles(cosines, row);
  load_angles(sines, row + problem.rotated / 2);
}
#endif
