#pragma once
#include "attention/kv_append/slots.cuh"
#if rotary_dim > 0
#  include "attention/kv_append/turns.cuh"
#endif
// Keys and values of tokens to slots of caches: a thread for each head.

// Elements of a head, of which the first ones are turned.
struct TurnedHead {
  const Element* elements;
  const float* turns;
  int rotary;

  __device__ __forceinline__ Element operator[](int i) const {
#if rotary_dim > 0
    if (i < rotary) {
      const int pair = Problem::interleaved ? i / 2 : i % (rotary / 2);
      const int first = Problem::interleaved ? 2 * pair : pair, step = Problem::interleaved ? 1 : rotary / 2;
      Element a = elements[first], b = elements[first + step];
      turn(a, b, turns, pair);
      return i == first ? a : b;
    }
#endif
    return elements[i];
  }
};

__device__ __forceinline__ void append_head(const Move& move, int elements, const float* turns, int rotary) {
  const TurnedHead head = {move.source, turns, rotary};
#if token_scales
  float largest = 0.0f;
  for (int i = 0; i < elements; ++i) largest = max_nan(largest, fabsf(to_float(head[i])));
  *move.scale = scale_of(largest);
#endif
  for (int i = 0; i < elements; ++i) {
#if cache == plain
    move.target[i] = head[i];
#else
    Packed<Element, 1> number;
    number.elements[0] = head[i];
    move.target[i] = stored(number, *move.scale).elements[0];
#endif
  }
}

__device__ __forceinline__ void kv_append_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const int heads = problem.heads + problem.heads_q;
  if (number >= static_cast<long long>(problem.tokens) * heads) return;
  const int token = number / heads, head = number % heads;
  const float* turns = nullptr;
#if rotary_dim > 0
  turns = turns_of(arguments, problem, token);
#endif
#if queries
  if (head >= problem.heads) {
    Element* q = query_of(arguments, problem, token, head - problem.heads);
    constexpr int pairs = Problem::rotary_dim / 2, step = Problem::interleaved ? 1 : pairs;
    for (int pair = 0; pair < pairs; ++pair) {
      const int first = Problem::interleaved ? 2 * pair : pair;
      turn(q[first], q[first + step], turns, pair);
    }
    return;
  }
#endif
  const Place place = place_of(arguments, problem, token);
  if (!place.there) return;
  append_head(keys_of(arguments, problem).move(place, token, head), Problem::head_dim, turns,
              Problem::rotary_dim);
  append_head(values_of(arguments, problem).move(place, token, head), Problem::value_dim, turns, 0);
}
