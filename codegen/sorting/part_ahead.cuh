#pragma once
#include "sorting/merge_tile.cuh"
// A launch finds the parts of all tiles ahead of the one that merges them.

constexpr int part_lanes = 8;  // that look for the first key of a tile

// Of the thread's lanes.
__device__ __forceinline__ long long divided_tile() {
  return (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / part_lanes;
}

// How many keys of `a` are ahead of a tile of both, which begins with key `begin`.
__device__ __forceinline__ long long part_ahead(const Run& a, const Run& b, long long begin) {
  return keys_of_first_by_lanes<part_lanes>(a.keys, a.count, b.keys, b.count, begin);
}
