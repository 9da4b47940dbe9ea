#pragma once
#include "cuda/numbers.cuh"

// Stores a result of a kernel as its own type, or that of a reference in double.
template <typename To, typename Number>
__device__ __forceinline__ void store_number(To* target, Number value) {
  if constexpr (sizeof(To) == 8) {
    *target = value;
  } else {
    *target = from_float<To>(value);
  }
}
