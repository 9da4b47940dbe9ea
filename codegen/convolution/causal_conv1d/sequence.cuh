#pragma once
#include "cuda/numbers.cuh"
#include "epilogue/activation.cuh"
// The steps of a channel, with those ahead of it, and its results.

using Element = Problem::Element;
constexpr int width = Problem::width;

// Elements from the first one of X to a step of a channel.
__device__ __forceinline__ long long step_of_x(const Problem& problem, int sequence, int channel, int step) {
#if channels_last
  return sequence * problem.stride_x + step * problem.ldx + channel;
#else
  return sequence * problem.stride_x + channel * problem.ldx + step;
#endif
}

__device__ __forceinline__ long long step_of_y(const Problem& problem, int sequence, int channel, int step) {
#if channels_last
  return sequence * problem.stride_y + step * problem.ldy + channel;
#else
  return sequence * problem.stride_y + channel * problem.ldy + step;
#endif
}

// Elements to the first of the steps ahead of a sequence, or to the first of its last ones.
__device__ __forceinline__ long long states_of(const Problem& problem, int sequence, int channel) {
  return (static_cast<long long>(sequence) * problem.channels + channel) * (width - 1);
}

// A step, which is ahead of the sequence if it is negative.
__device__ __forceinline__ Element step_at(const Arguments& arguments, const Problem& problem, int sequence,
                                           int channel, int step) {
  if (step >= 0) return arguments.x[step_of_x(problem, sequence, channel, step)];
#if initial
  return arguments.initial_states[states_of(problem, sequence, channel) + step + width - 1];
#else
  return Element{};
#endif
}

#if numbered
// The number of a step's sequence; steps ahead have none.
__device__ __forceinline__ int number_of(const Arguments& arguments, const Problem& problem, int sequence,
                                         int step) {
  if (step < 0) return -1;
  return arguments.numbers[static_cast<long long>(sequence) * problem.length + step];
}

#endif
#if final
// Stores the last steps of a channel.
__device__ __forceinline__ void store_final(const Arguments& arguments, const Problem& problem, int sequence,
                                            int channel) {
  Element* states = arguments.final_states + states_of(problem, sequence, channel);
  for (int i = 0; i < width - 1; ++i)
    states[i] = step_at(arguments, problem, sequence, channel, problem.length - width + 1 + i);
}

#endif
__device__ __forceinline__ float bias_of(const Arguments& arguments, int channel) {
#if bias
  return to_float(arguments.bias[channel]);
#else
  return 0.0f;
#endif
}
