#pragma once
#include "scan/scan/operation.cuh"
// What elements in a row amount to: the combination of those since the last head, at which a segment begins,
// and whether there is a head among all of them.

struct Carry {
  Number number;
#if segmented
  unsigned has_head;
#endif
};

__device__ __forceinline__ Carry nothing() { return {identity()}; }

struct Join {
  __device__ __forceinline__ Carry operator()(Carry before, Carry after) const {
#if segmented
    return {after.has_head ? after.number : combine(before.number, after.number),
            before.has_head | after.has_head};
#else
    return {combine(before.number, after.number)};
#endif
  }
};
