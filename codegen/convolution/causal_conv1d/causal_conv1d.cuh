#pragma once
#include "cuda/packed.cuh"
#include "convolution/causal_conv1d/sequence.cuh"
// Y of steps that a thread has in registers, with those that their filters reach back to.

constexpr int vector = Schedule::vector;
constexpr int loads = Schedule::loads;
using Vector = Packed<Element, vector>;

#if channels_last
// A thread has `vector` channels, and goes through loads·rounds steps, one behind the other. The last
// width - 1 steps stay in registers. Threads side by side have channels side by side.
__device__ __forceinline__ void causal_conv1d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int steps = loads * Schedule::rounds;
  const int vectors = (problem.channels - 1) / vector + 1, chunks = max(1, (problem.length - 1) / steps + 1);
  const long long thread = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  const int channel = thread % vectors * vector, chunk = thread / vectors % chunks;
  const int sequence = thread / vectors / chunks, first = chunk * steps;
  if (sequence >= problem.batch) return;
#  if final
  if (chunk == 0) {
    for (int l = 0; l < vector; ++l) store_final(arguments, problem, sequence, channel + l);
  }
#  endif

  float factors[width][vector], biases[vector], seen[width - 1 + loads][vector];
#  pragma unroll
  for (int l = 0; l < vector; ++l) {
    biases[l] = bias_of(arguments, channel + l);
#  pragma unroll
    for (int i = 0; i < width; ++i)
      factors[i][l] = to_float(arguments.weight[static_cast<long long>(channel + l) * width + i]);
#  pragma unroll
    for (int i = 0; i < width - 1; ++i)
      seen[i][l] = first + i - width + 1 < problem.length
                       ? to_float(step_at(arguments, problem, sequence, channel + l, first + i - width + 1))
                       : 0.0f;
  }
#  if numbered
  int numbers[width - 1 + loads];
#    pragma unroll
  for (int i = 0; i < width - 1; ++i) {
    const int step = first + i - width + 1;
    numbers[i] = step < problem.length ? number_of(arguments, problem, sequence, step) : -1;
  }
#  endif
#  pragma unroll 1
  for (int begin = first; begin < min(first + steps, problem.length); begin += loads) {
    Vector loaded[loads] = {};
#  pragma unroll
    for (int i = 0; i < loads; ++i) {
      if (begin + i < problem.length)
        loaded[i] =
            load_global<vector, false>(arguments.x + step_of_x(problem, sequence, channel, begin + i));
#  if numbered
      const int step = begin + i;
      numbers[width - 1 + i] = step < problem.length ? number_of(arguments, problem, sequence, step) : -1;
#  endif
    }
#  pragma unroll
    for (int i = 0; i < loads; ++i) {
      to_floats(seen[width - 1 + i], loaded[i].elements);
      if (begin + i >= problem.length) break;
      float sums[vector];
      Vector result;
#  pragma unroll
      for (int l = 0; l < vector; ++l) {
        sums[l] = biases[l];
#  pragma unroll
        for (int j = 0; j < width; ++j) {
#  if numbered
          if (numbers[i + j] != numbers[i + width - 1]) continue;
#  endif
          sums[l] = fmaf(factors[j][l], seen[i + j][l], sums[l]);
        }
        sums[l] = activated(sums[l]);
#  if numbered
        if (numbers[i + width - 1] < 0) sums[l] = 0.0f;
#  endif
      }
      from_floats(result.elements, sums);
      store_global<false>(arguments.y + step_of_y(problem, sequence, channel, begin + i), result);
    }
#  pragma unroll
    for (int i = 0; i < width - 1; ++i) {
#  pragma unroll
      for (int l = 0; l < vector; ++l) seen[i][l] = seen[loads + i][l];
#  if numbered
      numbers[i] = numbers[loads + i];
#  endif
    }
  }
}
#else
// A thread has vectors of steps of a channel. Threads side by side have vectors side by side, so what a
// filter reaches back to is in L1.
constexpr int reached = (width - 1 + vector - 1) / vector;  // vectors ahead of one

// The steps of a vector, those behind the sequence's end as zeros.
__device__ __forceinline__ Vector load_steps(const Arguments& arguments, const Problem& problem, int sequence,
                                             int channel, int first) {
  if (first >= 0 && first + vector <= problem.length)
    return load_global<vector, false>(arguments.x + step_of_x(problem, sequence, channel, first));
  Vector steps = {};
#  pragma unroll
  for (int i = 0; i < vector; ++i) {
    if (first + i >= 1 - width && first + i < problem.length)
      steps.elements[i] = step_at(arguments, problem, sequence, channel, first + i);
  }
  return steps;
}

__device__ __forceinline__ void store_steps(const Arguments& arguments, const Problem& problem, int sequence,
                                            int channel, int first, const Vector& steps) {
  Element* target = arguments.y + step_of_y(problem, sequence, channel, first);
  if (first + vector <= problem.length) {
    store_global<false>(target, steps);
  } else {
#  pragma unroll
    for (int i = 0; i < vector; ++i)
      if (first + i < problem.length) target[i] = steps.elements[i];
  }
}

// The results of the steps of a vector.
__device__ __forceinline__ void convolve(const Arguments& arguments, const Problem& problem, int sequence,
                                         int channel, int first, const Vector (&loaded)[reached + 1]) {
  float seen[(reached + 1) * vector], sums[vector];
#  pragma unroll
  for (int i = 0; i < (reached + 1) * vector; ++i)
    seen[i] = to_float(loaded[i / vector].elements[i % vector]);
  const Element* factors = arguments.weight + static_cast<long long>(channel) * width;
  const float own_bias = bias_of(arguments, channel);
#  pragma unroll
  for (int i = 0; i < vector; ++i) sums[i] = own_bias;
#  pragma unroll
  for (int j = 0; j < width; ++j) {
    const float factor = to_float(factors[j]);
#  pragma unroll
    for (int i = 0; i < vector; ++i)
      sums[i] = fmaf(factor, seen[reached * vector - width + 1 + j + i], sums[i]);
  }
#  pragma unroll
  for (int i = 0; i < vector; ++i) sums[i] = activated(sums[i]);
  Vector results;
  from_floats(results.elements, sums);
  store_steps(arguments, problem, sequence, channel, first, results);
}

__device__ __forceinline__ void causal_conv1d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int vectors = max(1, (problem.length - 1) / vector + 1);
  const long long all = static_cast<long long>(vectors) * problem.channels * problem.batch;
  const long long first =
      blockIdx.x * static_cast<long long>(Schedule::threads * loads * Schedule::rounds) + threadIdx.x;
#  pragma unroll 1
  for (int round = 0; round < Schedule::rounds; ++round) {
    Vector loaded[loads][reached + 1];
#  pragma unroll
    for (int i = 0; i < loads; ++i) {
      const long long own = first + (round * loads + i) * Schedule::threads, line = own / vectors;
      if (own >= all) break;
      const int channel = line % problem.channels, step = own % vectors * vector;
#  pragma unroll
      for (int j = 0; j <= reached; ++j)
        loaded[i][j] =
            load_steps(arguments, problem, line / problem.channels, channel, step + (j - reached) * vector);
    }
#  pragma unroll
    for (int i = 0; i < loads; ++i) {
      const long long own = first + (round * loads + i) * Schedule::threads, line = own / vectors;
      if (own >= all) break;
      const int channel = line % problem.channels, sequence = line / problem.channels;
#  if final
      if (own % vectors == 0) store_final(arguments, problem, sequence, channel);
#  endif
      convolve(arguments, problem, sequence, channel, own % vectors * vector, loaded[i]);
    }
  }
}
#endif
