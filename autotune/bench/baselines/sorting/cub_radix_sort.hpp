// CUB's sort of one array, compiled by nvcc for the types and the order that are defined ahead of it.
#include <cub/device/device_radix_sort.cuh>

namespace {

#define JOINED(name, order) name##order
#define IN_ORDER(name, order) JOINED(name, order)

#if INDICES
__global__ void write_indices(Value* indices, long long count) {
  const long long own = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (own < count) indices[own] = static_cast<Value>(own);
}
#endif

}  // namespace

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
  // The indices to be sorted lie ahead of CUB's own scratch.
  const size_t ahead = (count * sizeof(Value) + 255) / 256 * 256;
  Value* values = static_cast<Value*>(scratch);
  if (scratch != nullptr) {
    write_indices<<<static_cast<unsigned>((count + 255) / 256), 256, 0, on>>>(values, count);
    scratch = static_cast<char*>(scratch) + ahead;
    *bytes -= ahead;
  }
#endif
#if PAIRS
  const int status = cub::DeviceRadixSort::IN_ORDER(SortPairs, ORDER)(
      scratch, *bytes, keys, keys_out, values, values_out, count, BEGIN_BIT, END_BIT, on);
#else
  const int status = cub::DeviceRadixSort::IN_ORDER(SortKeys, ORDER)(scratch, *bytes, keys, keys_out, count,
                                                                     BEGIN_BIT, END_BIT, on);
#endif
#if INDICES
  *bytes += ahead;
#endif
  return status;
}
