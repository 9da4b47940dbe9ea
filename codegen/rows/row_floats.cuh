#pragma once
#include "cuda/packed.cuh"
#include "cuda/packed_pairs.cuh"

// The elements of a vector. Neighbouring 16-bit ones are converted from their word: one instruction for each,
// where ptxas would first take the word apart.
template <int count, typename Number>
__device__ __forceinline__ void row_floats(float* target, const Packed<Number, count>& vector) {
  if constexpr (sizeof(Number) == 2 && count % 2 == 0) {
    const unsigned* words = reinterpret_cast<const unsigned*>(&vector);
#pragma unroll
    for (int i = 0; i < count; i += 2) {
      const float2 pair = floats_of_pair(words[i / 2], Number{});
      target[i] = pair.x;
      target[i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) target[i] = to_float(vector.elements[i]);
  }
}
