#pragma once
#include "vision/nms/candidates.cuh"
// What a sort of an image's boxes by their scores takes, and leaves. What includes it defines `threads`.

__device__ __forceinline__ int tiles_of(const Arguments& arguments) {
  return (arguments.candidates + tile - 1) / tile;
}

// The boxes of an image as they are sorted, from one of them on.
__device__ __forceinline__ Candidates sorted(const Arguments& arguments, long long image, int first) {
  const long long place = image * arguments.candidates + first;
  Candidates found;
  found.corners = reinterpret_cast<float4*>(arguments.sorted_corners) + place;
#if classed
  found.ids = reinterpret_cast<ClassId*>(arguments.sorted_ids) + place;
#endif
  return found;
}

__device__ __forceinline__ void write_keys(const Arguments& arguments) {
  const long long place = blockIdx.x * static_cast<long long>(threads) + threadIdx.x;
  const int candidates = arguments.candidates;
  if (place >= static_cast<long long>(arguments.images) * candidates) return;
  const long long image = place / candidates;
  const int index = static_cast<int>(place - image * candidates);
  const bool counts = index < candidates_of(arguments, image);
  arguments.keys[place] = counts ? score_key(arguments, image, index) : 0;
}
