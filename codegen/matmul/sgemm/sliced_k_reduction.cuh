#pragma once
#include "cuda/cluster.cuh"
#include "cuda/shared_memory.cuh"
#include "matmul/sgemm/epilogue.cuh"

// The sums of a tile that several threads share, each with its part of the steps along k. Lanes add up by
// shuffles. Warps, and blocks of a cluster, leave their sums in shared memory, where each of them adds up the
// part of the tile that it writes.
class SlicedKReduction {
 public:
  explicit __device__ __forceinline__ SlicedKReduction(const Accumulators& sum) : sum_(sum) {
#if lanes_k > 1
    add_up_lanes();
#endif
#if k_partitions > 1
    __syncthreads();  // others may still read the tiles that the sums overwrite
#  if lanes_k > 1
    if (lane_k() == 0) store_sums();
#  else
    store_sums();
#  endif
    barrier();
#endif
  }

  // alpha times the vectors from `first` on. Partitions are added in a fixed order.
  __device__ __forceinline__ void get(Output::Fragment& fragment, int first, float alpha) const {
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
#if k_partitions > 1
      add_up_partitions(fragment.elements[i], first + i);
#else
      get_vector(fragment.elements[i], sum_, first + i);
#endif
#pragma unroll
      for (int j = 0; j < Output::width; ++j)
        fragment.elements[i][j] = scaled(fragment.elements[i][j], alpha);
    }
  }

#if k_partitions > 1
  // Waits until no thread reads the sums in shared memory any more.
  static __device__ __forceinline__ void barrier() {
#  if cluster_k > 1
    cluster_barrier();
#  else
    __syncthreads();
#  endif
  }

#endif
 private:
#if lanes_k > 1
  __device__ __forceinline__ void add_up_lanes() {
#  pragma unroll
    for (int distance = 1; distance < lanes_k; distance *= 2) {
#  pragma unroll
      for (int i = 0; i < Schedule::thread_m * Schedule::thread_n; ++i) {
        float& sum = sum_.c[i / Schedule::thread_n][i % Schedule::thread_n];
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      }
    }
  }

#endif
#if k_partitions > 1
  // A vector of a warp's sums in shared memory.
  static __device__ __forceinline__ float* address(int warp, int vector) {
    return dynamic_shared<float>() +
           ((warp * Output::vectors + vector) * tile_threads + tile_thread()) * Output::width;
  }
  __device__ __forceinline__ void store_sums() const {
#  pragma unroll
    for (int vector = 0; vector < Output::vectors; ++vector) {
      alignas(16) float elements[Output::width];
      get_vector(elements, sum_, vector);
#  if warps_k > 1
      copy_vector<Output::width>(address(warp_k(), vector), elements);
#  else
      copy_vector<Output::width>(address(0, vector), elements);
#  endif
    }
  }
  static __device__ __forceinline__ void add_up_partitions(float (&elements)[Output::width], int vector) {
    alignas(16) float parts[Output::k_partitions][Output::width];
#  pragma unroll
    for (int part = 0; part < Output::k_partitions; ++part) {
      const float* theirs = address(part % Schedule::warps_k, vector);
#  if cluster_k > 1
      theirs = shared_of_rank(theirs, part / Schedule::warps_k);
#  endif
      copy_vector<Output::width>(parts[part], theirs);
    }
#  pragma unroll
    for (int i = 0; i < Output::width; ++i) {
      elements[i] = parts[0][i];
#  pragma unroll
      for (int part = 1; part < Output::k_partitions; ++part) elements[i] += parts[part][i];
    }
  }

#endif
  Accumulators sum_;
};
