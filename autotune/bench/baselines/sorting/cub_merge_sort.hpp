// CUB's sort of one array by merges, compiled by nvcc for the types and the order that are defined ahead of
// it.
#include <cub/device/device_merge_sort.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "sorting/cub_before.hpp"

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, const Key* keys,
#if PAIRS && !INDICES
                           const Value* values,
#endif
                           Key* keys_out,
#if PAIRS
                           Value* values_out,
#endif
                           long long count, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
#if INDICES
  const thrust::counting_iterator<Value> values(0);
#endif
#if PAIRS
  return cub::DeviceMergeSort::SortPairsCopy(scratch, *bytes, keys, values, keys_out, values_out, count,
                                             Before(), on);
#else
  return cub::DeviceMergeSort::SortKeysCopy(scratch, *bytes, keys, keys_out, count, Before(), on);
#endif
}
