// CUB's selection from rows, compiled by nvcc for the types and the sizes that are defined ahead of it.
#include <cub/device/device_batched_topk.cuh>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

// Where each row begins.
template <typename Element>
struct RowStart {
  Element* first;
  long long step;

  __host__ __device__ Element* operator()(long long row) const { return first + row * step; }
};

template <typename Element>
auto rows_of(Element* first, long long step) {
  return thrust::make_transform_iterator(thrust::counting_iterator<long long>(0),
                                         RowStart<Element>{first, step});
}

// With `scratch` null it writes the bytes that are needed there. Returns a cudaError_t.
extern "C" int driver_call(void* scratch, size_t* bytes, const Element* x, Element* values, Index* indices,
                           long long rows, long long ldx, long long ldv, long long ldi, void* stream) {
  const auto on = cuda::stream_ref{static_cast<cudaStream_t>(stream)};
  const auto any = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                            cuda::execution::tie_break::unspecified,
                                            cuda::execution::output_ordering::unsorted);
  const auto columns =
      thrust::constant_iterator<thrust::counting_iterator<Index>>(thrust::counting_iterator<Index>(0));
  return cub::DeviceBatchedTopK::DIRECTION(scratch, *bytes, rows_of(x, ldx), rows_of(values, ldv), columns,
                                           rows_of(indices, ldi), cuda::args::constant<COLUMNS>{},
                                           cuda::args::constant<RESULTS>{}, cuda::args::immediate{rows},
                                           cuda::std::execution::env{any, on});
}
