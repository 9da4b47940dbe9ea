#pragma once
#include "attention/kv_append/slots.cuh"
// Keys and values of tokens to slots of caches: a thread for each head.

__device__ __forceinline__ void append_head(const Move& move, int elements) {
#if token_scales
  float largest = 0.0f;
  for (int i = 0; i < elements; ++i) largest = max_nan(largest, fabsf(to_float(move.source[i])));
  *move.scale = largest / largest_code;
#endif
  for (int i = 0; i < elements; ++i) {
#if cache == plain
    move.target[i] = move.source[i];
#else
    move.target[i] = stored(load_global<1, false>(move.source + i), *move.scale).elements[0];
#endif
  }
}

__device__ __forceinline__ void kv_append_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (number >= static_cast<long long>(problem.tokens) * problem.heads) return;
  const int token = number / problem.heads, head = number % problem.heads;
  const Place place = place_of(arguments, problem, token);
  if (!place.there) return;
  append_head(move_of_key(arguments, problem, place, token, head), Problem::head_dim);
  append_head(move_of_value(arguments, problem, place, token, head), Problem::value_dim);
}
