#pragma once
#include "cuda/shared_memory.cuh"
#include "rows/reduce/line.cuh"
// One block computes a result: each thread takes every `threads`-th element, then half of the threads combine
// what two of them have, half of those again, and so on.

template <int threads>
__device__ __forceinline__ Partial tree_total(const Line& line) {
  const int thread = threadIdx.x;
  Partial partial = empty_partial(thread);
  for (Index i = thread; i < line.count; i += threads) take(partial, line.source[i * line.step], i);

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
  const Line line = line_of(arguments, blockIdx.x);
  const Partial total = tree_total<threads>(line);
  if (threadIdx.x == 0) arguments.y[blockIdx.x] = result_of_line(total, line);
}

// Beside what follows from a sum, the scale of its error: |y|, and what it would be if all terms had the same
// sign, times `weight`.
template <int threads>
__device__ __forceinline__ void reference_by_tree(const Arguments& arguments, double weight) {
  const Line line = line_of(arguments, blockIdx.x);
  const Partial total = tree_total<threads>(line);
  if (threadIdx.x > 0) return;
  const double result = of_sum(total.sum, line.count);
  arguments.y[blockIdx.x] = result;
  arguments.y_scale[blockIdx.x] = fabs(result) + weight * of_sum(total.magnitude, line.count);
}
