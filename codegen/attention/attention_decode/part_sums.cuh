#pragma once
#include "attention/attention/scores.cuh"
#include "cuda/row_reduce.cuh"
// What parts of a row's keys leave: the largest logit, the sum of weights, and the sums of weighted values.
// Those of all rows of a block are a state in memory.

constexpr int columns = Problem::value_dim;
constexpr int state_pitch = (columns + 3) / 4 * 4;  // floats of a row's sums of values, read four at a time

// What is subtracted from scaled logits, so that the largest weight is 1.
__device__ __forceinline__ float base_of(float largest, float factor) {
  return largest == -infinity() ? 0.0f : largest * factor;
}

// 2^(factor·logit - base).
__device__ __forceinline__ float weight_of(float logit, float factor, float base) {
  return exp2_flushed(fmaf(logit, factor, -base));
}
