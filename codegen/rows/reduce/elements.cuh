#pragma once
#include "cuda/math.cuh"
#include "cuda/numbers.cuh"
// Elements as the numbers that a kernel computes with, and results.

using Element = Problem::Element;
using Number = Problem::Number;
using Result = Problem::Result;
using Index = Problem::Index;

#if element_bits == 16
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
