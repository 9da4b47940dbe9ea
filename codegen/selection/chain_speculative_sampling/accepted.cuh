#pragma once
#include "cuda/random_state.cuh"
// Which draft tokens are accepted, and by which integers the next one is drawn.

using Mass = unsigned long long;

// floor(2^44 x) of numbers from 0 to 1; 0 of NaN.
__device__ __forceinline__ Mass weight_of(float x) {
  return x > 0.0f ? static_cast<Mass>((x < 1.0f ? x : 1.0f) * 17592186044416.0f) : 0;
}

// 64 random bits for each place of a row.
__device__ __forceinline__ Mass random_bits(const Arguments& arguments, const Problem& problem, long long row,
                                            int place) {
  RandomState state{arguments.seed, arguments.offset};
  long long counter = row * (problem.drafts + 1) + place;
#if pairs == one
  state = state.of_row(arguments.state, 0);
#elif pairs == rows
  state = state.of_row(arguments.state, row);
  counter = place;
#endif
  unsigned words[4];
  state.random(words, counter);
  return static_cast<Mass>(words[1]) << 32 | words[0];
}

__device__ __forceinline__ bool is_accepted(const Arguments& arguments, const Problem& problem, long long row,
                                            int place) {
  const long long token = arguments.draft_tokens[row * problem.drafts + place];
  if (token < 0 || token >= problem.columns) return false;
  const long long own = row * problem.drafts + place, target = row * (problem.drafts + 1) + place;
  const Mass q = weight_of(arguments.draft_probs[own * problem.columns + token]);
  const Mass p = weight_of(arguments.target_probs[target * problem.columns + token]);
  return __umul64hi(random_bits(arguments, problem, row, place), q) < p;
}

// What tokens weigh for the draw, if so many draft tokens were accepted.
struct Rest {
  const float* target;
  const float* draft;  // null where all were accepted

  __device__ __forceinline__ Rest(const Arguments& arguments, const Problem& problem, long long row,
                                  int accepted) {
    target = arguments.target_probs + (row * (problem.drafts + 1) + accepted) * problem.columns;
    draft = accepted < problem.drafts
                ? arguments.draft_probs + (row * problem.drafts + accepted) * problem.columns
                : nullptr;
  }

  __device__ __forceinline__ Mass at(int column) const {
    const Mass p = weight_of(target[column]), q = draft == nullptr ? 0 : weight_of(draft[column]);
    return p > q ? p - q : 0;
  }
};

// What is written at a place of a row.
__device__ __forceinline__ void store_place(const Arguments& arguments, const Problem& problem, long long row,
                                            int place, int accepted, int drawn) {
  long long token = place == accepted ? drawn : -1;
  if (place < accepted) token = arguments.draft_tokens[row * problem.drafts + place];
  arguments.tokens[row * (problem.drafts + 1) + place] = token;
}
