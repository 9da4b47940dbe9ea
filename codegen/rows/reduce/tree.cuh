#pragma once
#include "cuda/shared_memory.cuh"
#include "rows/reduce/operation.cuh"
// One block computes a result: each thread takes every `threads`-th element, then half of the threads combine
// what two of them have, half of those again, and so on.

template <int threads>
__device__ __forceinline__ Partial tree_total(const Arguments& arguments) {
  const Problem problem(arguments);
#if axis == first
  const Element* source = arguments.x + blockIdx.x;
  const Index count = problem.rows;
  const long long step = problem.ldx;
#else
  const Element* source = arguments.x + blockIdx.x * problem.ldx;
  const Index count = problem.columns;
  const long long step = 1;
#endif
  const int thread = threadIdx.x;
  Partial partial = empty_partial(thread);
  for (Index i = thread; i < count; i += threads) take(partial, source[i * step], i);

  Partial* partials = dynamic_shared<Partial>();
  partials[thread] = partial;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) partials[thread] = Combine()(partials[thread], partials[thread + half]);
  }
  return partials[thread];
}

template <int threads>
__device__ __forceinline__ void reduce_by_tree(const Arguments& arguments) {
  const Partial total = tree_total<threads>(arguments);
  if (threadIdx.x == 0) arguments.y[blockIdx.x] = result_of(total);
}

// Beside a sum, the scale of its error: |y| and the sum of the absolute values, times `weight`.
template <int threads>
__device__ __forceinline__ void reference_by_tree(const Arguments& arguments, double weight) {
  const Partial total = tree_total<threads>(arguments);
  if (threadIdx.x > 0) return;
  arguments.y[blockIdx.x] = total.sum;
  arguments.y_scale[blockIdx.x] = fabs(total.sum) + weight * total.magnitude;
}
