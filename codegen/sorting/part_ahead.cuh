#pragma once
#include "sorting/merge_tile.cuh"
// A launch finds the parts of all tiles ahead of the one that merges them.

constexpr int part_lanes = Schedule::part_lanes;  // that look for the first key of a tile

// Of the thread's lanes.
__device__ __forceinline__ long long divided_tile() {
  return (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / part_lanes;
}

// The fewest keys of the first run that may be among the first `count` ones of both. What is left of a part
// is counted from there, so that no number leads out of the runs.
__device__ __forceinline__ long long least_of_first(const Run& b, long long count) {
  return count > b.count ? count - b.count : 0;
}

// The part of a tile, by a launch ahead if `parts` has what it has found. `is_last`: no other tile of the
// runs follows.
__device__ __forceinline__ Part part_of(const long long* parts, long long tile, bool is_last, const Run& a,
                                        const Run& b, long long begin, int count, Shared& shared) {
  if (parts == nullptr) return part_of(a, b, begin, count, shared);
  const long long next = is_last ? a.count : parts[tile + 1] + least_of_first(b, begin + count);
  return {parts[tile] + least_of_first(b, begin), next};
}

// How many keys of `a` are ahead of a tile of both, which begins with key `begin`.
__device__ __forceinline__ long long part_ahead(const Run& a, const Run& b, long long begin) {
  return keys_of_first_by_lanes<part_lanes>(a.keys, a.count, b.keys, b.count, begin);
}
