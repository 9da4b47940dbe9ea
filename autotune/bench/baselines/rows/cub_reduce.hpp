// CUB's reduction of an array, its rows or its segments, compiled by nvcc for the types and the operation
// that are defined ahead of it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

namespace {

// The term at a place. CUB would add 16-bit floats in their own type.
struct Term {
  const Element* x;
  const Element* other;
  __host__ __device__ Number operator()(long long i) const {
    [[maybe_unused]] const Number a = static_cast<Number>(x[i]);
#if ARRAYS == 2
    const Number b = static_cast<Number>(other[i]);
#endif
    return TERM;
  }
};

#if HALVES
// CUB begins segments with a number of the results' type, which the operation would not take beside others.
struct Combine {
  template <typename A, typename B>
  __host__ __device__ Number operator()(A a, B b) const {
    return Operation{}(static_cast<Number>(a), static_cast<Number>(b));
  }
};
#else
using Combine = Operation;
#endif

struct Finish {
  long long count;
  __host__ __device__ Result operator()(Number total) const { return static_cast<Result>(FINISHED); }
};

// Where a row begins, or ends.
struct Bound {
  long long step, length;
  __host__ __device__ long long operator()(long long row) const { return row * step + length; }
};

[[maybe_unused]] auto bounds(long long step, long long length) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(0LL), Bound{step, length});
}

[[maybe_unused]] auto terms(const Element* x, const Element* other) {
#if PLAIN
  return x;
#else
  return thrust::make_transform_iterator(thrust::make_counting_iterator(0LL), Term{x, other});
#endif
}

[[maybe_unused]] auto results(Result* y, long long count) {
#if FINISHES
  return thrust::make_transform_output_iterator(y, Finish{count});
#else
  return y;
#endif
}

}  // namespace

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, const Element* x,
#if ARRAYS == 2
                           const Element* other,
#endif
#if SEGMENTED
                           const Offset* offsets,
#endif
                           Result* y, long long columns, long long count, long long step, void* stream) {
#if ARRAYS == 1
  const Element* other = nullptr;
#endif
  const auto on = static_cast<cudaStream_t>(stream);
  const auto input = terms(x, other);
#if INDEXED
  return cub::DeviceReduce::EXTREME(scratch, *bytes, input, thrust::make_discard_iterator(), y, columns, on);
#elif WHOLE
  const Number first = IDENTITY;
  return cub::DeviceReduce::Reduce(scratch, *bytes, input, results(y, columns), columns, Combine{}, first,
                                   on);
#else
  const Number first = IDENTITY;
#  if SEGMENTED
  const Offset *begins = offsets, *ends = offsets + 1;
#  else
  const auto begins = bounds(step, 0), ends = bounds(step, columns);
#  endif
  return cub::DeviceSegmentedReduce::Reduce(scratch, *bytes, input, results(y, columns), count, begins, ends,
                                            Combine{}, first, on);
#endif
}
