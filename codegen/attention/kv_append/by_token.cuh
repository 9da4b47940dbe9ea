#pragma once
#include "attention/kv_append/slots.cuh"
// Keys and values of tokens to slots of caches as codes: a warp has a head of k or of v, whose largest number
// becomes the largest code.

template <int elements>
__device__ __forceinline__ void store_head(const Move& move) {
  constexpr int width = Schedule::vector_width, vectors = elements / width, own = (vectors + 31) / 32;
  const int lane = threadIdx.x % 32;
  Packed<Element, width> numbers[own];
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < own; ++i) {
    const int vector = 32 * i + lane;
    if (vector >= vectors) continue;
    numbers[i] = load_global<width, false>(move.source + vector * width);
#pragma unroll
    for (int j = 0; j < width; ++j) largest = max_nan(largest, fabsf(to_float(numbers[i].elements[j])));
  }
  const float scale = reduce_lanes<32>(largest, Max()) / largest_code;
  if (lane == 0) *move.scale = scale;
#pragma unroll
  for (int i = 0; i < own; ++i) {
    const int vector = 32 * i + lane;
    if (vector < vectors) store_global<false>(move.target + vector * width, stored(numbers[i], scale));
  }
}

__device__ __forceinline__ void kv_append_by_token(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index =
      blockIdx.x * static_cast<long long>(Schedule::threads / 32) + static_cast<int>(threadIdx.x) / 32;
  const unsigned number = static_cast<unsigned>(index / 2), heads = problem.heads;
  if (number >= static_cast<unsigned>(problem.tokens) * heads) return;
  const int token = number / heads, head = number % heads;
  const Place place = place_of(arguments, problem, token);
  if (!place.there) return;
  if (index % 2 == 0)
    store_head<Problem::head_dim>(move_of_key(arguments, problem, place, token, head));
  else
    store_head<Problem::value_dim>(move_of_value(arguments, problem, place, token, head));
}
