#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
// Boxes of an image with their scores and classes, and when one suppresses another.

constexpr int tile = Problem::tile;  // boxes that a block looks at together: as many as a mask has bits

#if classed
using ClassId = Problem::ClassId;
#endif

struct Candidate {
  float4 corners;  // left, top, right, bottom
#if classed
  ClassId id;
#endif
};

struct Candidates {
  float4* corners;
#if classed
  ClassId* ids;
#endif

  __device__ __forceinline__ Candidate get(long long i) const {
    Candidate found;
    found.corners = corners[i];
#if classed
    found.id = ids[i];
#endif
    return found;
  }
  __device__ __forceinline__ void set(long long i, const Candidate& candidate) const {
    corners[i] = candidate.corners;
#if classed
    ids[i] = candidate.id;
#endif
  }
};

// How many boxes of an image there are.
__device__ __forceinline__ int candidates_of(const Arguments& arguments, long long image) {
#if counted
  const int count = arguments.counts[image];
  return count < 0 ? 0 : count > arguments.candidates ? arguments.candidates : count;
#else
  return arguments.candidates;
#endif
}

__device__ __forceinline__ Candidate load_candidate(const Arguments& arguments, long long image, int index) {
  constexpr int width = Problem::vector_width;
  const long long place = image * arguments.candidates + index;
  float numbers[4];
#pragma unroll
  for (int first = 0; first < 4; first += width) {
    const Packed<Problem::Element, width> packed =
        load_global<width, false>(arguments.boxes + place * 4 + first);
#pragma unroll
    for (int i = 0; i < width; ++i) numbers[first + i] = to_float(packed.elements[i]);
  }
  Candidate found;
  found.corners = make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
#if classed
  found.id = arguments.classes[place];
#endif
  return found;
}

// Larger for a higher score, and never 0; 0 for one that does not count. -0 and 0 are equal.
__device__ __forceinline__ unsigned score_key(const Arguments& arguments, long long image, int index) {
  const float score = to_float(arguments.scores[image * arguments.candidates + index]);
  if (!(score >= arguments.score_threshold)) return 0;  // NaN, too
  const unsigned bits = __float_as_uint(score + 0.0f);  // -0 becomes 0
  return bits ^ (static_cast<unsigned>(static_cast<int>(bits) >> 31) | 0x80000000u);
}

// A score and its index in one number: the larger, the earlier. 0 stands for none.
using Entry = unsigned long long;

__device__ __forceinline__ Entry entry_of(const Arguments& arguments, long long image, int index) {
  const unsigned key = score_key(arguments, image, index);
  return key == 0 ? 0 : static_cast<Entry>(key) << 32 | ~static_cast<unsigned>(index);
}
__device__ __forceinline__ int index_of(Entry entry) {
  return static_cast<int>(~static_cast<unsigned>(entry));
}

// Each product is rounded, as torchvision has it: none is fused with a sum.
__device__ __forceinline__ float area_of(float4 box) { return __fmul_rn(box.z - box.x, box.w - box.y); }

// Whether two boxes of one class overlap by more than a part of what they cover together. Where that is not a
// number, as of boxes without area, they do not.
__device__ __forceinline__ bool suppresses(const Candidate& one, const Candidate& other, float threshold) {
#if classed
  if (one.id != other.id) return false;
#endif
  const float4 a = one.corners, b = other.corners;
  const float width = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.0f);
  const float height = fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.0f);
  const float shared = __fmul_rn(width, height);
  if (shared == 0.0f && threshold >= 0.0f) return false;  // as most pairs: they need no division
  return shared / (area_of(a) + area_of(b) - shared) > threshold;
}
