#pragma once
#include "attention/attention_decode/part_sums.cuh"
#if cluster
#  include "cuda/cluster.cuh"
#endif
// Where states are that follow each other.
struct States {
  float* values;  // of each row of each state, `state_pitch` apart
  float2* tops;   // likewise: the largest logit, and the sum of weights

  // In memory for `count` of them.
  __device__ __forceinline__ States(float* memory, long long count)
      : values(memory), tops(reinterpret_cast<float2*>(memory + count * Schedule::rows * state_pitch)) {}

  // From state `index` on.
  template <typename Index>
  __device__ __forceinline__ States from(Index index) const {
    States found = *this;
    found.values += index * (Schedule::rows * state_pitch);
    found.tops += index * Schedule::rows;
    return found;
  }
#if cluster

  // Those that a block of the cluster has at the same place of its shared memory.
  __device__ __forceinline__ States of_rank(int rank) const {
    States found = *this;
    found.values = const_cast<float*>(shared_of_rank(static_cast<const float*>(values), rank));
    found.tops = const_cast<float2*>(shared_of_rank(static_cast<const float2*>(tops), rank));
    return found;
  }
#endif
};

// Adds `count` states, which `state(i)` returns, in order. `end(row, largest, sum)`, by one lane of each row,
// returns what all of its weights are multiplied by; `store(row, column, values)` gets the sums of four
// columns, of which the block has each of `sharing` from its own `rank` on. `weights` has room for those of
// all rows and states in shared memory. All threads of the block call it. What is stored may take the place
// of the first state. Loops stay loops: a small batch waits for instructions more than for anything else.
template <class StateOf, class End, class Store>
__device__ __forceinline__ void add_states(StateOf state, int count, int rows, float factor, float* weights,
                                           End end, Store store, int rank, int sharing) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 1
  for (int row = warp; row < rows; row += Schedule::threads / 32) {
    float* of_row = weights + row * count;
    float largest = -infinity(), sum = 0.0f;
#pragma unroll 1
    for (int i = lane; i < count; i += 32) largest = max_nan(largest, state(i).tops[row].x);
    largest = reduce_lanes<32>(largest, Max());
    const float base = base_of(largest, factor);
#pragma unroll 1
    for (int i = lane; i < count; i += 32) {
      const float2 top = state(i).tops[row];
      const float weight = weight_of(top.x, factor, base);
      of_row[i] = weight;
      sum = fmaf(top.y, weight, sum);
    }
    const float scale = end(row, largest, reduce_lanes<32>(sum, Sum()));
#pragma unroll 1
    for (int i = lane; i < count; i += 32) of_row[i] *= scale;
  }
  __syncthreads();
  constexpr int vectors = state_pitch / 4;
#pragma unroll 1
  for (int vector = threadIdx.x * sharing + rank; vector < rows * vectors;
       vector += Schedule::threads * sharing) {
    const int row = vector / vectors, column = vector % vectors * 4;
    float4 sums = {};
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      const float4 values = *reinterpret_cast<const float4*>(state(i).values + row * state_pitch + column);
      const float weight = weights[row * count + i];
      sums.x = fmaf(values.x, weight, sums.x);
      sums.y = fmaf(values.y, weight, sums.y);
      sums.z = fmaf(values.z, weight, sums.z);
      sums.w = fmaf(values.w, weight, sums.w);
    }
    store(row, column, sums);
  }
}
