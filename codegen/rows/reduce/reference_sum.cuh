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
  const double number = number_of(element);
  partial = Combine()(partial, {number, fabs(number)});
}
