#pragma once
#include "cuda/math.cuh"
#include "cuda/numbers.cuh"
// Elements as the numbers that a kernel computes with, and results.

using Element = Problem::Element;
using Number = Problem::Number;
using Result = Problem::Result;
using Index = Problem::Index;

#if op == l2
// The term of an element.
__device__ __forceinline__ Number number_of(Element element) {
  const Number number = to_float(element);
  return number * number;
}
#elif smallest
#  if integer
// The order of integers turned around: the smallest one is the largest.
__device__ __forceinline__ Number turned(Number number) { return ~number; }
__device__ __forceinline__ Number number_of(Element element) { return turned(element); }
#  else
// The order of numbers turned around: the smallest one is the largest. A NaN stays one.
__device__ __forceinline__ Number turned(Number number) { return -number; }
__device__ __forceinline__ Number number_of(Element element) { return turned(to_float(element)); }
#  endif
#elif element_bits == 16
__device__ __forceinline__ Number number_of(Element element) { return to_float(element); }
#else
__device__ __forceinline__ Number number_of(Element element) { return element; }
#endif

#if result_bits == 16
__device__ __forceinline__ Result rounded(Number number) { return from_float<Result>(number); }
#else
__device__ __forceinline__ Result rounded(Number number) { return number; }
#endif

// No number is less.
#if integer
__device__ __forceinline__ Number lowest() { return -2147483647 - 1; }
#else
__device__ __forceinline__ Number lowest() { return -infinity(); }
#endif
