#pragma once
#include "convolution/causal_conv1d/sequence.cuh"
#include "convolution/store_number.cuh"
// One thread computes one step of one channel, in `Number`.

template <typename Number>
__device__ __forceinline__ void causal_conv1d_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const int steps = max(problem.length, 1);  // of none, the final states are left
  const int channel = index / steps % problem.channels, step = index % steps;
  const long long sequence = index / steps / problem.channels;
  if (sequence >= problem.batch) return;
#if final
  if (step == 0) store_final(arguments, problem, sequence, channel);
#endif
  if (step >= problem.length) return;
  Number sum = bias_of(arguments, channel);
  for (int i = 0; i < width; ++i) {
#if numbered
    const int seen = number_of(arguments, problem, sequence, step - width + 1 + i);
    if (seen != number_of(arguments, problem, sequence, step)) continue;
#endif
    const Number factor = to_float(arguments.weight[static_cast<long long>(channel) * width + i]);
    sum += factor * to_float(step_at(arguments, problem, sequence, channel, step - width + 1 + i));
  }
  Number result = activated(sum);
#if numbered
  if (number_of(arguments, problem, sequence, step) < 0) result = 0;
#endif
  store_number(arguments.y + step_of_y(problem, sequence, channel, step), result);
}
