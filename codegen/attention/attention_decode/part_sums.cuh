#pragma once
#include "attention/attention/scores.cuh"
#include "cuda/row_reduce.cuh"
// What parts of a row's keys leave: the largest logit, the sum of weights, and the sums of weighted values.
// Those of all rows of a block are a state in memory.

constexpr int columns = Problem::value_dim;
constexpr int state_pitch = (columns + 3) / 4 * 4;  // floats of a row's sums of values, read four at a time
