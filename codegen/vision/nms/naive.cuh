#pragma once
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#include "vision/nms/candidates.cuh"

// Whether two boxes of one class overlap too much.
__device__ __forceinline__ bool suppresses(const Candidate& one, const Candidate& other,
                                           const OverlapTest& test) {
#if classed
  if (one.id != other.id) return false;
#endif
  return test.exceeds(Overlap(one.corners, other.corners));
}

// A block for each image, which again and again takes the best box that is left, and drops those that it
// suppresses.
template <int threads>
__device__ __forceinline__ void nms_naive(const Arguments& arguments) {
  const long long image = blockIdx.x;
  unsigned char* gone = arguments.gone + image * arguments.candidates;
  const int count = candidates_of(arguments, image);
  const OverlapTest test(arguments.iou_threshold);
  for (int i = threadIdx.x; i < count; i += threads) gone[i] = 0;
  int kept = 0;
  for (; kept < arguments.max_output; ++kept) {
    Entry best = 0;
    for (int i = threadIdx.x; i < count; i += threads) {
      const Entry entry = gone[i] ? 0 : entry_of(arguments, image, i);
      best = entry > best ? entry : best;
    }
    __syncthreads();
    best = reduce_row<threads>(best, Max(), dynamic_shared<Entry>());
    if (best == 0) break;
    const int index = index_of(best);
    const Candidate chosen = load_candidate(arguments, image, index);
    for (int i = threadIdx.x; i < count; i += threads) {
      const Candidate other = load_candidate(arguments, image, i);
      if (i == index || suppresses(chosen, other, test)) gone[i] = 1;
    }
    if (threadIdx.x == 0) arguments.indices[image * arguments.max_output + kept] = index;
  }
  if (threadIdx.x == 0) arguments.kept[image] = kept;
}
