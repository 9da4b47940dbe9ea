#pragma once
#include "cuda/packed_pairs.cuh"
#include "rows/row.cuh"

// The elements of a vector. Neighbouring 16-bit ones are converted from their word: one instruction for each,
// where ptxas would first take the word apart.
template <typename Number>
__device__ __forceinline__ void row_floats(float (&target)[Schedule::vector_width],
                                           const Packed<Number, Schedule::vector_width>& vector) {
  if constexpr (sizeof(Number) == 2 && Schedule::vector_width % 2 == 0) {
    const unsigned* words = reinterpret_cast<const unsigned*>(&vector);
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; i += 2) {
      const float2 pair = floats_of_pair(words[i / 2], Number{});
      target[i] = pair.x;
      target[i + 1] = pair.y;
    }
  } else {
    to_floats(target, vector.elements);
  }
}
