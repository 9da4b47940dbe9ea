#pragma once
using Partial = Number;
using Combine = Sum;

__device__ __forceinline__ Partial empty_partial(Index) { return 0; }
__device__ __forceinline__ void take(Partial& partial, Element element, Index) {
  partial += number_of(element);
}
#if op == mean
__device__ __forceinline__ Result result_of(Partial partial, Index count) { return rounded(partial / count); }
#elif root
__device__ __forceinline__ Result result_of(Partial partial) { return rounded(sqrtf(partial)); }
#else
__device__ __forceinline__ Result result_of(Partial partial) { return rounded(partial); }
#endif
