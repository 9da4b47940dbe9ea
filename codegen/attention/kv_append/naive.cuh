#pragma once
#include "attention/kv_append/slots.cuh"
// Keys and values of tokens to slots of caches: a thread for each head.

__device__ __forceinline__ void kv_append_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (number >= static_cast<long long>(problem.tokens) * problem.heads) return;
  const int token = number / problem.heads, head = number % problem.heads;
  const Place place = place_of(arguments, problem, token);
  if (!place.there) return;
  const Element* k = bits_of(arguments.k) + token * problem.stride_k_t + head * problem.stride_k_g;
  const Element* v = bits_of(arguments.v) + token * problem.stride_v_t + head * problem.stride_v_g;
  Element* keys = bits_of(arguments.keys) + place.page * problem.stride_keys_p +
                  place.slot * problem.stride_keys_s + head * problem.stride_keys_g;
  Element* values = bits_of(arguments.values) + place.page * problem.stride_values_p +
                    place.slot * problem.stride_values_s + head * problem.stride_values_g;
  for (int i = 0; i < Problem::head_dim; ++i) keys[i] = k[i];
  for (int i = 0; i < Problem::value_dim; ++i) values[i] = v[i];
}
