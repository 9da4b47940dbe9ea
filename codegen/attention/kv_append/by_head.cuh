#pragma once
#include "attention/kv_append/slots.cuh"
#if rotary_dim > 0
#  include "attention/kv_append/turns.cuh"
#endif
// Keys and values of tokens to slots of caches by a warp for each head of k, v and q: its elements are turned
// in pairs, or its largest number becomes the largest code.

constexpr int width = Schedule::vector_width;
using Vector = Packed<Element, width>;

// The vectors that a lane has of a head: couples whose elements make pairs, and others, which are alone.
template <int elements, int rotary>
struct Vectors {
  static constexpr bool coupled = rotary > 0 && !(Problem::interleaved && width > 1);
  static constexpr int couples = coupled ? rotary / 2 / width : 0;
  static constexpr int of_unit = coupled ? 2 : 1;
  static constexpr int count = elements / width - couples, own = (count + 31) / 32;  // units
  Vector vectors[own][of_unit];

  static __device__ __forceinline__ int number(int unit) {
    return 32 * unit + static_cast<int>(threadIdx.x) % 32;
  }

  // Where a vector begins; less than 0 if the lane does not have it.
  static __device__ __forceinline__ int column(int unit, int part) {
    const int own_number = number(unit);
    if (own_number >= count) return -1;
    if (own_number >= couples) return part == 0 ? (own_number + couples) * width : -1;
    return Problem::interleaved ? 2 * own_number + part : own_number * width + part * (rotary / 2);
  }

  // Not by __ldg: heads of q are stored where they were.
  __device__ __forceinline__ explicit Vectors(const Element* head) {
#pragma unroll
    for (int unit = 0; unit < own; ++unit) {
#pragma unroll
      for (int part = 0; part < of_unit; ++part) {
        const int first = column(unit, part);
        if (first >= 0)
          vectors[unit][part].bits = __ldca(reinterpret_cast<const Vector::Bits*>(head + first));
      }
    }
  }
#if rotary_dim > 0

  // Turns what is rotated, by cosines and sines of its pairs.
  __device__ __forceinline__ void rotate(const float* turns) {
#  pragma unroll
    for (int unit = 0; unit < own; ++unit) {
      Element* first = vectors[unit][0].elements;
      if constexpr (coupled) {
        if (number(unit) >= couples) continue;
#  pragma unroll
        for (int i = 0; i < width; ++i)
          turn(first[i], vectors[unit][1].elements[i], turns, number(unit) * width + i);
      } else if (number(unit) * width < rotary) {
#  pragma unroll
        for (int i = 0; i + 1 < width; i += 2)
          turn(first[i], first[i + 1], turns, (number(unit) * width + i) / 2);
      }
    }
  }
#endif
#if token_scales

  // By which the largest number becomes the largest code; in all lanes.
  __device__ __forceinline__ float scale() const {
    float largest = 0.0f;
#  pragma unroll
    for (int unit = 0; unit < own; ++unit) {
#  pragma unroll
      for (int part = 0; part < of_unit; ++part) {
        if (column(unit, part) < 0) continue;
#  pragma unroll
        for (const Element number : vectors[unit][part].elements)
          largest = max_nan(largest, fabsf(to_float(number)));
      }
    }
    return scale_of(reduce_lanes<32>(largest, Max()));
  }
#endif

  __device__ __forceinline__ void store(Element* head) const {
#pragma unroll
    for (int unit = 0; unit < own; ++unit) {
#pragma unroll
      for (int part = 0; part < of_unit; ++part) {
        const int first = column(unit, part);
        if (first >= 0) store_global<false>(head + first, vectors[unit][part]);
      }
    }
  }
#if cache != plain

  __device__ __forceinline__ void store(Stored* head, float scale) const {
#  pragma unroll
    for (int unit = 0; unit < own; ++unit) {
#  pragma unroll
      for (int part = 0; part < of_unit; ++part) {
        const int first = column(unit, part);
        if (first >= 0) store_global<false>(head + first, stored(vectors[unit][part], scale));
      }
    }
  }
#endif
};

template <int elements, int rotary>
__device__ __forceinline__ void append_head(const Move& move, const float* turns) {
  Vectors<elements, rotary> head(move.source);
#if rotary_dim > 0
  if constexpr (rotary > 0) head.rotate(turns);
#endif
#if cache == plain
  head.store(move.target);
#elif token_scales
  const float scale = head.scale();
  if (threadIdx.x % 32 == 0) *move.scale = scale;
  head.store(move.target, scale);
#else
  head.store(move.target, *move.scale);
#endif
}

__device__ __forceinline__ void kv_append_by_head(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long warp =
      blockIdx.x * static_cast<long long>(Schedule::threads / 32) + static_cast<int>(threadIdx.x) / 32;
  const int of_token = 2 * problem.heads + problem.heads_q;
  if (warp >= static_cast<long long>(problem.tokens) * of_token) return;
  const int token = static_cast<int>(warp) / of_token, number = static_cast<int>(warp) % of_token;
  const float* turns = nullptr;
#if rotary_dim > 0
  turns = turns_of(arguments, problem, token);
#endif
#if queries
  if (number >= 2 * problem.heads) {
    Element* source = query_of(arguments, problem, token, number - 2 * problem.heads);
    Vectors<Problem::head_dim, Problem::rotary_dim> head(source);
    head.rotate(turns);
    head.store(source);
    return;
  }
#endif
  const Place place = place_of(arguments, problem, token);
  if (!place.there) return;
  if (number < problem.heads)
    append_head<Problem::head_dim, Problem::rotary_dim>(
        keys_of(arguments, problem).move(place, token, number), turns);
  else
    append_head<Problem::value_dim, 0>(
        values_of(arguments, problem).move(place, token, number - problem.heads), turns);
}
