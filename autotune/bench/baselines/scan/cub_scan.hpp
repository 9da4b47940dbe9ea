// CUB's scan of one array, compiled by nvcc for the types and the operation that are defined ahead of it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

namespace {

#if CONVERTS
// Elements as the numbers that are added; CUB would add 16-bit floats in their own type.
struct ToNumber {
  __host__ __device__ Number operator()(Element element) const { return static_cast<Number>(element); }
};
#endif

template <class Iterator>
auto ordered(Iterator begin, [[maybe_unused]] long long count) {
#if REVERSE
  return thrust::make_reverse_iterator(begin + count);
#else
  return begin;
#endif
}

auto numbers(const Element* x) {
#if CONVERTS
  return thrust::make_transform_iterator(x, ToNumber{});
#else
  return x;
#endif
}

}  // namespace

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, const Element* x, Result* y, long long count,
                           void* stream) {
  const auto input = ordered(numbers(x), count);
  const auto output = ordered(y, count);
  const auto on = static_cast<cudaStream_t>(stream);
#if EXCLUSIVE
  const Number first = IDENTITY;
  return cub::DeviceScan::ExclusiveScan(scratch, *bytes, input, output, Operation{}, first, count, on);
#else
  return cub::DeviceScan::InclusiveScan(scratch, *bytes, input, output, Operation{}, count, on);
#endif
}
