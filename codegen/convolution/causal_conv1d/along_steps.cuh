#pragma once
#include "cuda/packed.cuh"
#include "convolution/causal_conv1d/sequence.cuh"
// Y where steps of a channel are neighbours. A thread has vectors of steps of one channel. Threads of a row
// have vectors side by side, so what a filter reaches back to is in L1.

constexpr int vector = Schedule::vector;
constexpr int loads = Schedule::loads;
constexpr int block_channels = Schedule::threads / Schedule::threads_per_row;
constexpr int row_steps = Schedule::threads_per_row * vector;  // of a channel, that a block loads at once
constexpr int reached = (width - 1 + vector - 1) / vector;     // vectors ahead of one
using Vector = Packed<Element, vector>;

// A channel of a sequence, with its filter.
struct Row {
  const Element* x;
  Element* y;
  float factors[width], own_bias;
  int sequence, channel;

  __device__ __forceinline__ Row(const Arguments& arguments, const Problem& problem, int sequence,
                                 int channel)
      : x(arguments.x + step_of_x(problem, sequence, channel, 0)),
        y(arguments.y + step_of_y(problem, sequence, channel, 0)),
        own_bias(bias_of(arguments, channel)),
        sequence(sequence),
        channel(channel) {
#pragma unroll
    for (int i = 0; i < width; ++i)
      factors[i] = to_float(arguments.weight[static_cast<long long>(channel) * width + i]);
  }
};

// The steps of a vector but for its first `unread` ones, those behind the sequence's end as zeros.
template <int unread>
__device__ __forceinline__ Vector load_steps(const Arguments& arguments, const Problem& problem,
                                             const Row& row, int first) {
  if (first >= 0 && first + vector <= problem.length) return load_global<vector, false>(row.x + first);
  Vector steps = {};
#pragma unroll
  for (int i = unread; i < vector; ++i) {
#if skewed
    if (first + i < 1 - width) continue;
#endif
    if (first + i < problem.length)
      steps.elements[i] = step_at(arguments, problem, row.sequence, row.channel, first + i);
  }
  return steps;
}

__device__ __forceinline__ void store_steps(const Problem& problem, const Row& row, int first,
                                            const Vector& steps) {
#if skewed
  const bool whole = first >= 0 && first + vector <= problem.length;
#else
  const bool whole = first + vector <= problem.length;
#endif
  if (whole) {
    store_global<false>(row.y + first, steps);
  } else {
#pragma unroll
    for (int i = 0; i < vector; ++i) {
#if skewed
      if (first + i < 0) continue;
#endif
      if (first + i < problem.length) row.y[first + i] = steps.elements[i];
    }
  }
}

// The results of the steps of a vector.
__device__ __forceinline__ Vector convolved(const Row& row, const Vector (&loaded)[reached + 1]) {
  float seen[(reached + 1) * vector], sums[vector];
#pragma unroll
  for (int i = 0; i < (reached + 1) * vector; ++i)
    seen[i] = to_float(loaded[i / vector].elements[i % vector]);
#pragma unroll
  for (int i = 0; i < vector; ++i) {
    sums[i] = row.own_bias;
#pragma unroll
    for (int j = 0; j < width; ++j)
      sums[i] = fmaf(row.factors[j], seen[reached * vector - width + 1 + j + i], sums[i]);
    sums[i] = activated(sums[i]);
  }
  Vector results;
  from_floats(results.elements, sums);
  return results;
}

__device__ __forceinline__ void causal_conv1d_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int chunk = row_steps * loads * Schedule::rounds;
#if skewed
  const int chunks = (problem.length + vector - 2) / chunk + 1;
#else
  const int chunks = max(1, (problem.length - 1) / chunk + 1);
#endif
  const int blocks_of_sequence = (problem.channels - 1) / block_channels + 1;
  const int block = blockIdx.x / chunks, own = threadIdx.x % Schedule::threads_per_row;
  const int sequence = block / blocks_of_sequence;
  const int channel =
      block % blocks_of_sequence * block_channels + static_cast<int>(threadIdx.x) / Schedule::threads_per_row;
  if (channel >= problem.channels) return;
  const Row row(arguments, problem, sequence, channel);
  int begin = blockIdx.x % chunks * chunk + own * vector;
#if final
  if (begin == 0) store_final(arguments, problem, sequence, channel);
#endif
#if skewed
  // Rows of X and Y begin as far behind a whole vector as each other: so do those of the thread's vectors.
  begin -= step_of_y(problem, sequence, channel, 0) & (vector - 1);
#endif
#pragma unroll 1
  for (int round = 0; round < Schedule::rounds; ++round, begin += row_steps * loads) {
    Vector loaded[loads][reached + 1];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int first = begin + i * row_steps;
      if (first >= problem.length) break;
      loaded[i][0] =
          load_steps<reached * vector - width + 1>(arguments, problem, row, first - reached * vector);
#pragma unroll
      for (int j = 1; j <= reached; ++j)
        loaded[i][j] = load_steps<0>(arguments, problem, row, first + (j - reached) * vector);
    }
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int first = begin + i * row_steps;
      if (first >= problem.length) return;
      store_steps(problem, row, first, convolved(row, loaded[i]));
    }
  }
}
