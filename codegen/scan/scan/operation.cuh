#pragma once
#include "cuda/math.cuh"
#include "cuda/numbers.cuh"
// Elements as the numbers that a kernel computes with, how two of them become one, and results.

using Element = Problem::Element;
using Number = Problem::Number;
using Result = Problem::Result;

#if element_bits == 16
__device__ __forceinline__ Number number_of(Element element) { return to_float(element); }
#else
__device__ __forceinline__ Number number_of(Element element) { return static_cast<Number>(element); }
#endif

#if result_bits == 16
__device__ __forceinline__ Result rounded(Number number) { return from_float<Result>(number); }
#else
__device__ __forceinline__ Result rounded(Number number) { return static_cast<Result>(number); }
#endif

// NaN if either number is NaN.
#if op == sum
__device__ __forceinline__ Number combine(Number a, Number b) { return a + b; }
#elif op == product
__device__ __forceinline__ Number combine(Number a, Number b) { return a * b; }
#elif op == max && single
__device__ __forceinline__ Number combine(Number a, Number b) { return max_nan(a, b); }
#elif op == max
__device__ __forceinline__ Number combine(Number a, Number b) { return a > b || a != a ? a : b; }
#elif single
__device__ __forceinline__ Number combine(Number a, Number b) { return min_nan(a, b); }
#else
__device__ __forceinline__ Number combine(Number a, Number b) { return a < b || a != a ? a : b; }
#endif

// Changes no number that it is combined with.
#if op == sum
__device__ __forceinline__ Number identity() { return 0; }
#elif op == product
__device__ __forceinline__ Number identity() { return 1; }
#elif op == max && integer
__device__ __forceinline__ Number identity() { return static_cast<Number>(1ull << (8 * sizeof(Number) - 1)); }
#elif op == max
__device__ __forceinline__ Number identity() { return -infinity(); }
#elif integer
__device__ __forceinline__ Number identity() {
  return static_cast<Number>((1ull << (8 * sizeof(Number) - 1)) - 1);
}
#else
__device__ __forceinline__ Number identity() { return infinity(); }
#endif

// An element of this number.
#if element_bits == 16
__device__ __forceinline__ Element neutral() { return from_float<Element>(identity()); }
#else
__device__ __forceinline__ Element neutral() { return static_cast<Element>(identity()); }
#endif

// What every scan begins with.
#if init && init_bits == 16
__device__ __forceinline__ Number first_number(const Arguments& arguments) {
  return to_float(*arguments.init);
}
#elif init
__device__ __forceinline__ Number first_number(const Arguments& arguments) {
  return static_cast<Number>(*arguments.init);
}
#else
__device__ __forceinline__ Number first_number(const Arguments&) { return identity(); }
#endif
