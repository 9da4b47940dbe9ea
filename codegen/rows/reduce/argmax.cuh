#pragma once
using Partial = Indexed<Number, Index>;
using Combine = ArgMax;

// The least number at the first index that a thread will take: right if all of its elements are that number,
// and behind all elements that exist if it takes none.
__device__ __forceinline__ Partial empty_partial(Index first) { return {lowest(), first}; }

// Indices go up, so the first of equal numbers stays. A NaN is not at most any number; the first one stays.
__device__ __forceinline__ void take_number(Partial& partial, Number number, Index index) {
  if (!(number <= partial.value) && partial.value == partial.value) partial = {number, index};
}
__device__ __forceinline__ void take(Partial& partial, Element element, Index index) {
  take_number(partial, number_of(element), index);
}
__device__ __forceinline__ Result result_of(Partial partial) { return partial.index; }
