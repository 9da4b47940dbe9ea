#pragma once
#include "sorting/move_key.cuh"
#include "sorting/segmented_sort/offsets.cuh"

// A thread for each key. Runs of all keys are twice as long after each pass: a key searches the other run of
// its pair for its place, as far as its segment is there.
__device__ __forceinline__ void merge_keys(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long own = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (own >= problem.columns) return;
  const long long length = 1ll << arguments.level, pair = own / (2 * length) * (2 * length),
                  middle = pair + length;
  const long long next = first_behind(arguments.offsets, 1, problem.segments, own);
  const Segment segment = segment_ahead(arguments.offsets, problem, next, own);
  if (segment.begin == segment.end) return;
  const long long begin = segment.begin > pair ? segment.begin : pair;
  const long long end = segment.end < pair + 2 * length ? segment.end : pair + 2 * length;
  const Bits* keys = static_cast<const Bits*>(arguments.source);
  long long place = own;
  if (begin < middle && middle < end) {
    const bool of_a = own < middle;
    const long long other = of_a ? middle : begin, count = of_a ? end - middle : middle - begin;
    place += keys_ahead(keys, own, keys + other, count, of_a) - (of_a ? 0 : middle - begin);
  }
  move_key(arguments, 0, own, place);
}
