#pragma once
#include "cuda/row_reduce.cuh"

// The larger number, or NaN if either is: `Max` lets a NaN of doubles go where the other number comes last.
struct LargerOrNan {
  template <typename Number>
  __device__ __forceinline__ Number operator()(Number a, Number b) const {
    return a != a ? a : Max()(a, b);
  }
};
