#pragma once
// A sum in double, and that of the absolute values.

struct Partial {
  double sum, magnitude;
};
struct Combine {
  __device__ __forceinline__ Partial operator()(Partial a, Partial b) const {
    return {a.sum + b.sum, a.magnitude + b.magnitude};
  }
};

__device__ __forceinline__ Partial empty_partial(Index) { return {0.0, 0.0}; }
__device__ __forceinline__ void take(Partial& partial, Element element, Index) {
  const Number number = number_of(element);
  partial = Combine()(partial, {number, fabs(number)});
}

// What follows from a sum of `count` terms.
#if op == mean
__device__ __forceinline__ double of_sum(double sum, Index count) { return sum / count; }
#elif root
__device__ __forceinline__ double of_sum(double sum, Index) { return sqrt(sum); }
#else
__device__ __forceinline__ double of_sum(double sum, Index) { return sum; }
#endif
