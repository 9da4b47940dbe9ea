#pragma once
#include "cuda/vector.cuh"
// Partial sums of integers in the workspace, whose slots are floats.

template <int width>
__device__ __forceinline__ void load_vector_l2(int* target, const float* source) {
  load_vector_l2<width>(reinterpret_cast<float*>(target), source);
}
template <int width>
__device__ __forceinline__ void store_vector_l2(float* target, const int* source) {
  store_vector_l2<width>(target, reinterpret_cast<const float*>(source));
}
