#pragma once
#include "cuda/row_reduce.cuh"
// Scans of one value of each lane, always in the same order. `combine` takes what comes first as its first
// operand, and need not be commutative. All lanes of the warp take part, in segments of `lanes` neighbours.

// The value of the lane `delta` places before, or a value of no meaning where there is none in the segment.
template <int lanes, typename Value>
__device__ __forceinline__ Value from_lane_before(Value value, int delta) {
  Words<Value> own, other;
  own.value = value;
#pragma unroll
  for (unsigned i = 0; i < sizeof(Value) / 4; ++i) {
    other.words[i] = __shfl_up_sync(0xffffffffu, own.words[i], delta, lanes);
  }
  return other.value;
}

template <int lanes, typename Value>
__device__ __forceinline__ Value from_lane(Value value, int lane) {
  Words<Value> own, other;
  own.value = value;
#pragma unroll
  for (unsigned i = 0; i < sizeof(Value) / 4; ++i) {
    other.words[i] = __shfl_sync(0xffffffffu, own.words[i], lane, lanes);
  }
  return other.value;
}

// Each lane's value combined with all before it (Hillis and Steele, Data Parallel Algorithms, 1986).
template <int lanes, typename Value, class Combine>
__device__ __forceinline__ Value scan_lanes(Value value, Combine combine) {
  const int lane = threadIdx.x % lanes;
#pragma unroll
  for (int step = 1; step < lanes; step *= 2) {
    const Value before = from_lane_before<lanes>(value, step);
    if (lane >= step) value = combine(before, value);
  }
  return value;
}

// An inclusive scan becomes one of the lanes before.
template <int lanes, typename Value>
__device__ __forceinline__ Value shift_lanes(Value inclusive, Value identity) {
  const Value before = from_lane_before<lanes>(inclusive, 1);
  return threadIdx.x % lanes == 0 ? identity : before;
}

// The values of all lanes in one, in lane 0.
template <typename Value, class Combine>
__device__ __forceinline__ Value fold_lanes(Value value, Combine combine) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    Words<Value> own, other;
    own.value = value;
#pragma unroll
    for (unsigned i = 0; i < sizeof(Value) / 4; ++i) {
      other.words[i] = __shfl_down_sync(0xffffffffu, own.words[i], step);
    }
    value = combine(value, other.value);
  }
  return value;
}
