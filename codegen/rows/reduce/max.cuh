#pragma once
using Partial = Number;
using Combine = Max;

__device__ __forceinline__ Partial empty_partial(Index) { return lowest(); }
__device__ __forceinline__ void take(Partial& partial, Element element, Index) {
  partial = Combine()(partial, number_of(element));
}
#if smallest
__device__ __forceinline__ Result result_of(Partial partial) { return rounded(turned(partial)); }
#else
__device__ __forceinline__ Result result_of(Partial partial) { return rounded(partial); }
#endif
