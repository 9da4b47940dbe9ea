#pragma once
#include "selection/sampling/parameters.cuh"

using Output = Problem::Output;

// What is kept of a row: the entries from a floor on that weigh enough.
struct Kept {
  Entry floor;
  Weights weights;
  Mass total;  // of all that is kept

  __device__ __forceinline__ bool has(Entry entry) const {
    return entry >= floor && weights.of(entry) >= weights.least;
  }
  __device__ __forceinline__ Mass weight_of(Entry entry) const { return has(entry) ? weights.of(entry) : 0; }

  // What is written of an element.
  __device__ __forceinline__ Output result_of(Element element, int column) const {
    const Entry entry = entry_of(key_of(element), column);
#if result == masked
    return has(entry) ? element : from_float<Element>(-infinity());
#else
    return static_cast<float>(weight_of(entry)) / static_cast<float>(total);
#endif
  }
};

// The first entry alone.
__device__ __forceinline__ Kept only(Entry first) {
  const Weights weights{1.0f, value_of(key_of_entry(first)), 0};
  return {first, weights, weights.of(first)};
}
