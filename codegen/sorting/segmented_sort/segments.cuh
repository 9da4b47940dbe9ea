#pragma once
#include "sorting/merge_tile.cuh"
#include "sorting/segmented_sort/offsets.cuh"
// The segments at the first keys of tiles, whose numbers a launch ahead has found.

__device__ __forceinline__ void find_segments(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long tile = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (tile * tile_keys >= problem.columns) return;
  arguments.firsts[tile] = first_behind(arguments.offsets, 1, problem.segments, tile * tile_keys) - 1;
}

// The segment that has the first key of a tile, by that key's place.
__device__ __forceinline__ Segment segment_at(const Arguments& arguments, const Problem& problem,
                                              long long place) {
  return segment_ahead(arguments.offsets, problem, arguments.firsts[place / tile_keys] + 1, place);
}

// Of some tiles, the keys ahead of `left` are of a segment that begins ahead of the tiles, and those from
// `right` on are of one that goes on behind them.
struct Reach {
  long long left, right;
};

__device__ __forceinline__ Reach reach_of(const Arguments& arguments, const Problem& problem, long long begin,
                                          long long end) {
  const Segment first = segment_at(arguments, problem, begin);
  Reach reach = {begin, end};
  if (first.begin < begin) reach.left = first.end < end ? first.end : end;
  if (end < problem.columns) {
    const long long last = segment_at(arguments, problem, end).begin;
    if (last < end) reach.right = last > begin ? last : begin;
  }
  return reach;
}
