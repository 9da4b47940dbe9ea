#pragma once
#include "attention/kv_append/slots.cuh"
#include "cuda/packed.cuh"
// Keys and values of tokens to slots of caches: a thread moves a vector. Those of a head of k come before
// those of the same head of v.

__device__ __forceinline__ void kv_append_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int key_vectors = Problem::head_dim / Schedule::vector_width;
  constexpr int vectors = key_vectors + Problem::value_dim / Schedule::vector_width;
  const long long index = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  const unsigned all_heads = static_cast<unsigned>(problem.tokens) * problem.heads;
  if (index >= static_cast<long long>(all_heads) * vectors) return;
  const int vector = static_cast<int>(index % vectors);
  const unsigned number = static_cast<unsigned>(index / vectors), heads = problem.heads;
  const int token = number / heads, head = number % heads;
  const Place place = place_of(arguments, problem, token);
  if (!place.there) return;
  const Element* source;
  Element* target;
  if (vector < key_vectors) {
    const int column = vector * Schedule::vector_width;
    source = bits_of(arguments.k) + token * problem.stride_k_t + head * problem.stride_k_g + column;
    target = bits_of(arguments.keys) + place.page * problem.stride_keys_p +
             place.slot * problem.stride_keys_s + head * problem.stride_keys_g + column;
  } else {
    const int column = (vector - key_vectors) * Schedule::vector_width;
    source = bits_of(arguments.v) + token * problem.stride_v_t + head * problem.stride_v_g + column;
    target = bits_of(arguments.values) + place.page * problem.stride_values_p +
             place.slot * problem.stride_values_s + head * problem.stride_values_g + column;
  }
  store_global<false>(target, load_global<Schedule::vector_width, false>(source));
}
