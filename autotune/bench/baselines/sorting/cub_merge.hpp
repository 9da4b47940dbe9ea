// CUB's merge of two arrays, compiled by nvcc for the types and the order that are defined ahead of it.
#include <cub/device/device_merge.cuh>

#include "sorting/cub_before.hpp"

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, const Key* a, const Key* b, Key* keys_out,
#if PAIRS
                           const Value* a_values, const Value* b_values, Value* values_out,
#endif
                           long long first, long long second, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
#if PAIRS
  return cub::DeviceMerge::MergePairs(scratch, *bytes, a, a_values, first, b, b_values, second, keys_out,
                                      values_out, Before(), on);
#else
  return cub::DeviceMerge::MergeKeys(scratch, *bytes, a, first, b, second, keys_out, Before(), on);
#endif
}
