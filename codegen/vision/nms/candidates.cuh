#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
// Boxes of an image with their scores and classes, and when one suppresses another.

constexpr int tile = Problem::tile;  // boxes that a warp looks at together: as many as a mask has bits

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

// The first of two, or the second; member by member, as the structs would go through local memory.
__device__ __forceinline__ Candidates one_of(bool first, const Candidates& a, const Candidates& b) {
  Candidates found;
  found.corners = first ? a.corners : b.corners;
#if classed
  found.ids = first ? a.ids : b.ids;
#endif
  return found;
}

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

// What two boxes share, and what they cover together.
struct Overlap {
  float shared, covered;

  __device__ __forceinline__ Overlap(float4 a, float4 b) {
    const float width = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.0f);
    const float height = fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.0f);
    shared = __fmul_rn(width, height);
    covered = area_of(a) + area_of(b) - shared;
  }
};

// Boxes overlap too much if the quotient of what they share and what they cover together is above a
// threshold. It is rounded, as torchvision has it. Where it is not a number, they do not.
struct OverlapTest {
  float threshold, least;

  __device__ __forceinline__ explicit OverlapTest(float threshold)
      : threshold(threshold), least(threshold >= 9.1e-13f ? 8.7e-19f : __int_as_float(0x7f800000)) {}

  // False only if `exceeds` is. Boxes that lie side by side share 0, or what is not a number. A corner that
  // is not a number tells nothing.
  __device__ __forceinline__ bool may_exceed(float4 a, float4 b) const {
    return threshold < 0.0f || !(a.z <= b.x || b.z <= a.x || a.w <= b.y || b.w <= a.y);
  }
  // The division is left out where its outcome is certain. If shared - threshold * covered is not above 0,
  // nor is the quotient above the threshold, even if it is rounded, since the threshold is a float. The fused
  // sum has the sign of the exact one: from threshold 2^-40 and `covered` 2^-60 on, that is a multiple of
  // 2^-149.
  __device__ __forceinline__ bool exceeds(const Overlap& overlap) const {
    if (overlap.covered > least && fmaf(-threshold, overlap.covered, overlap.shared) <= 0.0f) return false;
    return overlap.shared / overlap.covered > threshold;
  }
};

// False only if number `i` of some boxes does not suppress another one. It takes no sum and no product.
__device__ __forceinline__ bool may_suppress(const Candidates& boxes, long long i, const Candidate& other,
                                             const OverlapTest& test) {
  const bool may_exceed = test.may_exceed(boxes.corners[i], other.corners);
#if classed
  return may_exceed & (boxes.ids[i] == other.id);
#else
  return may_exceed;
#endif
}
