#pragma once
#include "cuda/packed.cuh"
#include "convolution/causal_conv1d/sequence.cuh"
// Y where steps of a channel are neighbours. A thread has vectors of steps of one channel. Threads of a row
// have vectors side by side, so what a filter reaches back to is in L1.

constexpr int vector = Schedule::vector;
constexpr int loads = Schedule::loads;
constexpr int block_channels = Schedule::threads / Schedule::threads_per_row;
constexpr int row_steps = Schedule::threads_per_row * vector;  // of a channel, that a block loads at once
constexpr int reached = (width - 1 + vector - 1) / vector;     // vectors ahead of one, of `ahead` steps each
using Vector = Packed<Element, vector>;

// The narrowest access to so many steps, or else the widest.
__device__ constexpr int access_to(int steps) {
  int access = 1;
  while (access < steps && access < vector) access *= 2;
  return access;
}
constexpr int ahead = access_to(width - 1);

// What a vector of results is computed from.
struct Seen {
  Packed<Element, ahead> before[reached > 0 ? reached : 1];
  Vector own;
};

// A channel of a sequence, with its filter.
struct Row {
  const Element* x;
  Element* y;
  float factors[width], own_bias;
  int sequence, channel;
  int readable;  // steps, with some of the next row if that is next in memory

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
    const bool joined = problem.ldx == problem.length && channel + 1 < problem.channels;
    readable = problem.length + (joined && problem.length >= vector ? vector : 0);
  }
};

// Some steps, of which those behind the row's end may be any.
template <int count>
__device__ __forceinline__ Packed<Element, count> load_steps(const Arguments& arguments,
                                                             const Problem& problem, const Row& row,
                                                             int first) {
  if (first >= 0 && first + count <= row.readable) return load_global<count, false>(row.x + first);
  Packed<Element, count> steps = {};
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if (first + i >= 1 - width && first + i < problem.length)
      steps.elements[i] = step_at(arguments, problem, row.sequence, row.channel, first + i);
  }
  return steps;
}

__device__ __forceinline__ void load_round(Seen (&seen)[loads], const Arguments& arguments,
                                           const Problem& problem, const Row& row, int begin) {
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const int first = begin + i * row_steps;
    if (first >= problem.length) break;
#pragma unroll
    for (int j = 0; j < reached; ++j)
      seen[i].before[j] = load_steps<ahead>(arguments, problem, row, first + (j - reached) * ahead);
    seen[i].own = load_steps<vector>(arguments, problem, row, first);
  }
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
__device__ __forceinline__ Vector convolved(const Row& row, const Seen& seen) {
  float steps[reached * ahead + vector], sums[vector];
#pragma unroll
  for (int i = 0; i < reached * ahead; ++i) steps[i] = to_float(seen.before[i / ahead].elements[i % ahead]);
#pragma unroll
  for (int i = 0; i < vector; ++i) steps[reached * ahead + i] = to_float(seen.own.elements[i]);
#pragma unroll
  for (int i = 0; i < vector; ++i) {
    sums[i] = row.own_bias;
#pragma unroll
    for (int j = 0; j < width; ++j)
      sums[i] = fmaf(row.factors[j], steps[reached * ahead - width + 1 + j + i], sums[i]);
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
  Seen seen[loads];
#if prefetch
  Seen next[loads];
  load_round(next, arguments, problem, row, begin);
#endif
#pragma unroll 1
  for (int round = 0; round < Schedule::rounds; ++round, begin += row_steps * loads) {
#if prefetch
#  pragma unroll
    for (int i = 0; i < loads; ++i) seen[i] = next[i];
    if (round + 1 < Schedule::rounds) load_round(next, arguments, problem, row, begin + row_steps * loads);
#else
    load_round(seen, arguments, problem, row, begin);
#endif
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int first = begin + i * row_steps;
      if (first >= problem.length) return;
      store_steps(problem, row, first, convolved(row, seen[i]));
    }
  }
}
