#pragma once
#include "convolution/store_number.cuh"
#include "epilogue/activation.cuh"
// A thread has a channel of a request: its state, in registers, and its new steps.

template <typename Number>
__device__ __forceinline__ void update_channel(const Arguments& arguments) {
  using Element = Problem::Element;
  constexpr int width = Problem::width;
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long request = index / problem.channels;
  const int channel = index % problem.channels;
  if (request >= problem.requests) return;
  const Element* x = arguments.x + request * problem.stride_x_r + channel * problem.stride_x_c;
  auto* y = arguments.y + request * problem.stride_y_r + channel * problem.stride_y_c;
#if indexed
  const long long slot = arguments.slot_indices[request];
#else
  const long long slot = request;
#endif
  if (slot < 0 || slot >= problem.slots) {
    for (int step = 0; step < problem.steps; ++step) store_number(y + step, Number{0});
    return;
  }

  Element* state = arguments.states + slot * problem.stride_states_p + channel * problem.stride_states_c;
  const Element* factors = arguments.weight + static_cast<long long>(channel) * width;
  Element seen[width];
#pragma unroll
  for (int i = 0; i < width - 1; ++i) seen[i] = state[i];
  Number own_bias = 0;
#if bias
  own_bias = to_float(arguments.bias[channel]);
#endif
  for (int step = 0; step < problem.steps; ++step) {
    seen[width - 1] = x[step];
    Number sum = own_bias;
#pragma unroll
    for (int i = 0; i < width; ++i) sum += static_cast<Number>(to_float(factors[i])) * to_float(seen[i]);
    store_number(y + step, activated(sum));
#pragma unroll
    for (int i = 0; i < width - 1; ++i) seen[i] = seen[i + 1];
  }
#pragma unroll
  for (int i = 0; i < width - 1; ++i) state[i] = seen[i];
}

__device__ __forceinline__ void causal_conv1d_update_block(const Arguments& arguments) {
  update_channel<float>(arguments);
}
