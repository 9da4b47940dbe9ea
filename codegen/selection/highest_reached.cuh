#pragma once
#include "cuda/row_reduce.cuh"
// The search for a floor: a number that so many of a warp's or a block's numbers reach, each counted anew.

// The sum over the lanes of a warp.
__device__ __forceinline__ int sum_lanes(int value) {
#if !defined(AUTOTUNE_EMULATOR) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, value);
#else
  return reduce_lanes<32>(value, Sum());
#endif
}

// The highest number from `low` to `high` that at least `wanted` reach, as `count` finds; `low`, which is
// taken to be reached by as many, if there is no other. The search ends at a number that at most `enough`
// reach.
template <typename Number, typename Amount, class Count>
__device__ __forceinline__ Number highest_reached(Number low, Number high, Amount wanted, Amount enough,
                                                  Count count) {
  while (low < high) {
    const Number middle = high - (high - low) / 2;
    const Amount reached = count(middle);
    if (reached < wanted) {
      high = middle - 1;
    } else {
      low = middle;
      if (reached <= enough) break;
    }
  }
  return low;
}
