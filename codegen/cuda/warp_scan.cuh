#pragma once
#include "cuda/row_reduce.cuh"
// Scans of one value of each lane, always in the same order. `combine` takes what comes first as its first
// operand, and need not be commutative. All lanes of the warp take part, in segments of `lanes` neighbours.

// What the lane gets where all exchange their values, word by word. In a loop over the words, numbers of 8
// bytes would go through local memory.
template <typename Value, class Shuffle>
__device__ __forceinline__ Value exchanged(Value value, Shuffle shuffle) {
  constexpr unsigned count = sizeof(Value) / 4;
  static_assert(count <= 4, "expected values of 16 bytes at most");
  Words<Value> words;
  words.value = value;
  words.words[0] = shuffle(words.words[0]);
  if constexpr (count > 1) words.words[1] = shuffle(words.words[1]);
  if constexpr (count > 2) words.words[2] = shuffle(words.words[2]);
  if constexpr (count > 3) words.words[3] = shuffle(words.words[3]);
  return words.value;
}

// The value of the lane `delta` places before, or a value of no meaning where there is none in the segment.
template <int lanes, typename Value>
__device__ __forceinline__ Value from_lane_before(Value value, int delta) {
  return exchanged(value, [=](unsigned word) { return __shfl_up_sync(0xffffffffu, word, delta, lanes); });
}

template <int lanes, typename Value>
__device__ __forceinline__ Value from_lane(Value value, int lane) {
  return exchanged(value, [=](unsigned word) { return __shfl_sync(0xffffffffu, word, lane, lanes); });
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
    const auto from_above = [=](unsigned word) { return __shfl_down_sync(0xffffffffu, word, step); };
    value = combine(value, exchanged(value, from_above));
  }
  return value;
}
