#pragma once
#include "cuda/packed.cuh"
#include "cuda/shared_memory.cuh"
#include "convolution/causal_conv1d/sequence.cuh"
// Y where channels of a step are neighbours. A thread has `vector` channels, and goes through loads·rounds
// steps, one behind the other. The last width - 1 steps stay in registers. Threads of a row have channels
// side by side; others have other steps of these.

constexpr int vector = Schedule::vector;
constexpr int loads = Schedule::loads;
constexpr int block_channels = Schedule::threads_per_row * vector;
using Vector = Packed<Element, vector>;

// Copies the filters of the block's channels to shared memory: tap by tap, channels side by side.
__device__ __forceinline__ void load_filters(const Arguments& arguments, const Problem& problem,
                                             Element* filters, int first_channel) {
  const Element* weight = arguments.weight + static_cast<long long>(first_channel) * width;
  const int left = min(block_channels, problem.channels - first_channel) * width;
  for (int i = threadIdx.x; i < left; i += Schedule::threads)
    filters[i % width * block_channels + i / width] = weight[i];
  __syncthreads();
}

// The thread's channels of a step, which may be ahead of the sequence, or behind its end: then they are
// zeros.
__device__ __forceinline__ Vector load_step(const Arguments& arguments, const Problem& problem, int sequence,
                                            int channel, int step) {
  if (step >= 0 && step < problem.length)
    return load_global<vector, false>(arguments.x + step_of_x(problem, sequence, channel, step));
  Vector ahead = {};
#if initial
#  pragma unroll
  for (int l = 0; l < vector; ++l)
    if (step < 0) ahead.elements[l] = step_at(arguments, problem, sequence, channel + l, step);
#endif
  return ahead;
}

// The thread's channels of steps that are in the sequence, from the first of some on.
__device__ __forceinline__ void load_round(Vector (&loaded)[loads], const Problem& problem,
                                           const Element* source, int left) {
#pragma unroll
  for (int i = 0; i < loads; ++i, source += problem.ldx) loaded[i] = load_global_if<vector>(i < left, source);
}

__device__ __forceinline__ void causal_conv1d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int steps = loads * Schedule::rounds;
  constexpr int block_steps = steps * (Schedule::threads / Schedule::threads_per_row);
  const int channel_blocks = (problem.channels - 1) / block_channels + 1;
  const int chunks = max(1, (problem.length - 1) / block_steps + 1), block = blockIdx.x / channel_blocks;
  const int first_channel = blockIdx.x % channel_blocks * block_channels;
  const int own = threadIdx.x % Schedule::threads_per_row * vector, channel = first_channel + own;
  const int sequence = block / chunks;
  const int first =
      block % chunks * block_steps + static_cast<int>(threadIdx.x) / Schedule::threads_per_row * steps;
  Element* filters = dynamic_shared<Element>();
  load_filters(arguments, problem, filters, first_channel);
  if (channel >= problem.channels) return;
#if final
  if (first == 0) {
    for (int l = 0; l < vector; ++l) store_final(arguments, problem, sequence, channel + l);
  }
#endif

  float factors[width][vector], biases[vector], seen[width - 1 + loads][vector];
#pragma unroll
  for (int l = 0; l < vector; ++l) biases[l] = bias_of(arguments, channel + l);
#pragma unroll
  for (int i = 0; i < width; ++i) {
    const Vector taps = {*reinterpret_cast<const Vector::Bits*>(filters + i * block_channels + own)};
    to_floats(factors[i], taps.elements);
  }
#pragma unroll
  for (int i = 0; i < width - 1; ++i)
    to_floats(seen[i], load_step(arguments, problem, sequence, channel, first + i - width + 1).elements);
#if numbered
  int numbers[width - 1 + loads];
#  pragma unroll
  for (int i = 0; i < width - 1; ++i) {
    const int step = first + i - width + 1;
    numbers[i] = step < problem.length ? number_of(arguments, problem, sequence, step) : -1;
  }
#endif
  const Element* source = arguments.x + step_of_x(problem, sequence, channel, first);
  Element* target = arguments.y + step_of_y(problem, sequence, channel, first);
  Vector loaded[loads];
  const int end = min(first + steps, problem.length);
#if prefetch
  Vector next[loads];
  load_round(next, problem, source, problem.length - first);
#endif
#pragma unroll 1
  for (int begin = first; begin < end; begin += loads) {
#if prefetch
#  pragma unroll
    for (int i = 0; i < loads; ++i) loaded[i] = next[i];
    source += loads * problem.ldx;
    load_round(next, problem, source, end - begin - loads);
#else
    load_round(loaded, problem, source, problem.length - begin);
    source += loads * problem.ldx;
#endif
#if numbered
#  pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int step = begin + i;
      numbers[width - 1 + i] = step < problem.length ? number_of(arguments, problem, sequence, step) : -1;
    }
#endif
#pragma unroll
    for (int i = 0; i < loads; ++i, target += problem.ldy) {
      to_floats(seen[width - 1 + i], loaded[i].elements);
      if (begin + i >= problem.length) break;
      float sums[vector];
      Vector result;
#pragma unroll
      for (int l = 0; l < vector; ++l) {
        sums[l] = biases[l];
#pragma unroll
        for (int j = 0; j < width; ++j) {
#if numbered
          if (numbers[i + j] != numbers[i + width - 1]) continue;
#endif
          sums[l] = fmaf(factors[j][l], seen[i + j][l], sums[l]);
        }
        sums[l] = activated(sums[l]);
#if numbered
        if (numbers[i + width - 1] < 0) sums[l] = 0.0f;
#endif
      }
      from_floats(result.elements, sums);
      store_global<false>(target, result);
    }
#pragma unroll
    for (int i = 0; i < width - 1; ++i) {
#pragma unroll
      for (int l = 0; l < vector; ++l) seen[i][l] = seen[loads + i][l];
#if numbered
      numbers[i] = numbers[loads + i];
#endif
    }
  }
}
