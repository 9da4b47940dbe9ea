#pragma once
#include "attention/attention/scores.cuh"
#include "cuda/row_reduce.cuh"
// What parts of a row's keys leave: the largest logit, the sum of weights, and the sums of weighted values.
// Those of all rows of a block are a state in memory.

constexpr int state_floats = Problem::value_dim + 2;  // of a row

// What is subtracted from scaled logits, so that the largest weight is 1.
__device__ __forceinline__ float base_of(float largest, float factor) {
  return largest == -infinity() ? 0.0f : largest * factor;
}

// 2^(factor·logit - base).
__device__ __forceinline__ float weight_of(float logit, float factor, float base) {
  return exp2_flushed(fmaf(logit, factor, -base));
}

struct RowSums {
  float largest;
  float sum;
  float value;  // of one column
};

// A row of `count` states of `rows` rows each, with one of its columns, in the order of the states.
__device__ __forceinline__ RowSums add_states(const float* states, int count, int rows, int row, int column,
                                              float factor) {
  RowSums all = {-infinity(), 0.0f, 0.0f};
  const float* first = states + row * state_floats;
  const int step = rows * state_floats;
  for (int i = 0; i < count; ++i) all.largest = max_nan(all.largest, first[i * step]);
  const float base = base_of(all.largest, factor);
  for (int i = 0; i < count; ++i) {
    const float* state = first + i * step;
    const float weight = weight_of(state[0], factor, base);
    all.sum = fmaf(state[1], weight, all.sum);
    all.value = fmaf(state[2 + column], weight, all.value);
  }
  return all;
}
