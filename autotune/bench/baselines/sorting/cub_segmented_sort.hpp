// CUB's sort of segments, compiled by nvcc for the types and the order that are defined ahead of it.
#include <cub/device/device_segmented_sort.cuh>

#define JOINED(name, order) name##order
#define IN_ORDER(name, order) JOINED(name, order)

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, const Key* keys, const Offset* offsets,
                           Key* keys_out,
#if PAIRS
                           const Value* values, Value* values_out,
#endif
                           long long count, long long segments, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
#if PAIRS
  return cub::DeviceSegmentedSort::IN_ORDER(StableSortPairs, ORDER)(
      scratch, *bytes, keys, keys_out, values, values_out, count, segments, offsets, offsets + 1, on);
#else
  return cub::DeviceSegmentedSort::IN_ORDER(StableSortKeys, ORDER)(scratch, *bytes, keys, keys_out, count,
                                                                   segments, offsets, offsets + 1, on);
#endif
}
