#pragma once
#include "attention/kv_append/slots.cuh"
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
  const bool of_key = vector < key_vectors;
  const Tokens tokens = of_key ? keys_of(arguments, problem) : values_of(arguments, problem);
  const Move move = tokens.move(place, token, head);
  const int column = (of_key ? vector : vector - key_vectors) * Schedule::vector_width;
  const auto numbers = load_global<Schedule::vector_width, false>(move.source + column);
#if cache == plain
  store_global<false>(move.target + column, numbers);
#else
  store_global<false>(move.target + column, stored(numbers, *move.scale));
#endif
}
