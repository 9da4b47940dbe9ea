#pragma once
#include "convolution/conv2d_input/phases.cuh"
// How many stages the products of a phase have.

// Steps along k for each tap.
__device__ __forceinline__ int tap_steps(const Problem& problem) {
  return (problem.filters - 1u) / Schedule::block_k + 1;
}

// Where a phase sees no tap, a step has filters behind the last one.
__device__ __forceinline__ int steps_of_matrix(const Problem& problem, int number) {
  return max(1, Phase(number).taps() * tap_steps(problem));
}
