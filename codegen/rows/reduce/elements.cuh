#pragma once
#include "cuda/math.cuh"
#include "cuda/numbers.cuh"
// Elements as the numbers that a kernel computes with, and results.

#if arrays == 2
// What two arrays have at a place.
struct Element {
  Problem::Element x, other;
};

// Where they have it.
struct ElementPointer {
  const Problem::Element *x, *other;

  __device__ __forceinline__ Element operator[](long long i) const { return {x[i], other[i]}; }
  __device__ __forceinline__ ElementPointer operator+(long long i) const { return {x + i, other + i}; }
  __device__ __forceinline__ ElementPointer& operator+=(long long i) { return *this = *this + i; }
};

__device__ __forceinline__ ElementPointer elements_of(const Arguments& arguments) {
  return {arguments.x, arguments.other};
}
#else
using Element = Problem::Element;
#endif
using Number = Problem::Number;
using Result = Problem::Result;
using Index = Problem::Index;

#if op == dot
__device__ __forceinline__ Number number_of(Element element) {
  const Number number = to_float(element.x);
  return number * to_float(element.other);
}
#elif op == dist
__device__ __forceinline__ Number number_of(Element element) {
  const Number number = to_float(element.x), difference = number - to_float(element.other);
  return difference * difference;
}
#elif op == l2
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
