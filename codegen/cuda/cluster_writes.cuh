#pragma once
#include "cuda/cluster.cuh"

// See cluster.cuh: the same of what this thread may write there, which the next cluster barrier orders.
template <typename T>
__device__ __forceinline__ T* shared_of_rank(T* shared, int rank) {
  return const_cast<T*>(shared_of_rank(const_cast<const T*>(shared), rank));
}
