#pragma once
#include "cuda/random_state.cuh"
#include "cuda/row_reduce.cuh"
#include "selection/sampling/weights.cuh"

constexpr int most_k = 2048;

// What a row asks for, as all kernels read it.
struct Parameters {
  float scale = 1.0f;   // 1 / temperature
  bool greedy = false;  // the first token, without a draw
  int k = 0;            // tokens that may be drawn; 0: all
  float p = 1.0f;       // the share of their mass whose tokens may be drawn; 1: all
  Mass least = 0;       // see Weights
#if min_p && source == probs
  float share = 0.0f;  // of the first token's weight, from which `least` follows
#endif

  __device__ __forceinline__ Parameters(const Arguments& arguments, long long row, int columns) {
#if temperatures
    scale = 1.0f / arguments.temperature[row];
    greedy = !(scale > 0.0f && scale < infinity());
#endif
#if top_k
    k = arguments.top_k[row];
    if (k < 1 || k > most_k || k >= columns) k = 0;
    greedy = greedy || arguments.top_k[row] == 1;
#endif
#if top_p
    p = arguments.top_p[row];
    if (!(p < 1.0f)) p = 1.0f;
    greedy = greedy || p < 5.421010862427522e-20f;  // 2^-64, below which the share rounds to nothing
#endif
#if min_p && source == probs
    share = arguments.min_p[row];
#elif min_p
    const float share = arguments.min_p[row];
    least = share > 0.0f ? static_cast<Mass>(ceilf((share < 1.0f ? share : 1.0f) * 17592186044416.0f)) : 0;
#endif
  }
};

// 64 random bits of a row: words of the counter (row, offset), or (0, offset) where rows have offsets.
__device__ __forceinline__ Mass random_bits(const Arguments& arguments, long long row) {
  RandomState state{arguments.seed, arguments.offset};
  long long counter = row;
#if pairs == one
  state = state.of_row(arguments.state, 0);
#elif pairs == rows
  state = state.of_row(arguments.state, row);
  counter = 0;
#endif
  unsigned words[4];
  state.random(words, counter);
  return static_cast<Mass>(words[1]) << 32 | words[0];
}

// Whether a row has no token to draw: no element, a NaN, or nothing above -infinity, of probabilities 0.
__device__ __forceinline__ bool is_void(Entry first) {
#if source == probs
  return first == 0 || !(value_of(key_of_entry(first)) > 0.0f);
#else
  return first == 0 || !(value_of(key_of_entry(first)) > -infinity());
#endif
}

struct LargerEntry {
  __device__ __forceinline__ Entry operator()(Entry a, Entry b) const { return a > b ? a : b; }
};
