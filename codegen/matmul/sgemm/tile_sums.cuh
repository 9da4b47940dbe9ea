#pragma once
#include "cuda/cluster.cuh"
#include "cuda/shared_memory.cuh"
#include "matmul/sgemm/epilogue.cuh"
// The sums of a cluster's tile, to which each of the threads that share it along k brings its part. Parts of
// different warps, and of different blocks, meet in shared memory, where each finds what it takes out.
class TileSums {
  static constexpr bool shared = Output::takers > 1;

 public:
  explicit __device__ __forceinline__ TileSums(const Accumulators& parts) : sums_(parts) {
    add_up_lanes();
    if constexpr (shared) {
      __syncthreads();  // others may still read the tiles that the parts overwrite
      if (lane_k() == 0) leave_part();
      barrier();
    }
  }

  // Lets the shared memory be used for the next piece, or be left.
  static __device__ __forceinline__ void release() {
    if (Schedule::grid_blocks > 0 || Schedule::cluster_k > 1) barrier();
  }

  // alpha times the vectors from `first` on, each added up in the order of the parts.
  __device__ __forceinline__ void get(Output::Batch& batch, int first, float alpha) const {
#pragma unroll
    for (int i = 0; i < Output::batch_size; ++i) {
      if constexpr (!shared) {
        get_from_registers(batch.words[i], first + i);
      } else {
        add_up_parts(batch.words[i], first + i);
      }
#pragma unroll
      for (int word = 0; word < Output::width; ++word)
        batch.words[i][word] = scaled(batch.words[i][word], alpha);
    }
  }

 private:
  static __device__ __forceinline__ void barrier() {
    if constexpr (Schedule::cluster_k > 1) {
      cluster_barrier();
    } else {
      __syncthreads();
    }
  }

  // A vector on its way to memory occupies aligned registers. In a grid of its own size ptxas would keep the
  // sums themselves in such registers, in the same banks as the fragments of B: 51 % of all FFMAs then read
  // two operands of one bank, and registers are spilled. The addition makes new values, which leaves 6 %.
  static __device__ __forceinline__ float scaled(float sum, float alpha) {
    return Schedule::grid_blocks > 0 ? __fmul_rn(alpha, sum) + 0.0f : alpha * sum;
  }

  __device__ __forceinline__ void add_up_lanes() {
#pragma unroll
    for (int distance = 1; distance < lanes_k; distance *= 2) {
#pragma unroll
      for (int word = 0; word < Schedule::thread_m * Schedule::thread_n; ++word) {
        float& sum = sums_.c[word / Schedule::thread_n][word % Schedule::thread_n];
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      }
    }
  }

  __device__ __forceinline__ void get_from_registers(float (&words)[Output::width], int vector) const {
    const Position from = Output::position(vector);
#pragma unroll
    for (int word = 0; word < Output::width; ++word) words[word] = sums_.c[from.m][from.n + word];
  }

  // A vector of a part in shared memory.
  static __device__ __forceinline__ float* place(int part, int vector) {
    return dynamic_shared<float>() +
           ((part * Output::vectors + vector) * tile_threads + tile_thread()) * Output::width;
  }
  __device__ __forceinline__ void leave_part() const {
#pragma unroll
    for (int vector = 0; vector < Output::vectors; ++vector) {
      alignas(16) float words[Output::width];
      get_from_registers(words, vector);
      copy_vector<Output::width>(place(warp_k(), vector), words);
    }
  }
  static __device__ __forceinline__ void add_up_parts(float (&words)[Output::width], int vector) {
    alignas(16) float parts[Output::takers][Output::width];
#pragma unroll
    for (int part = 0; part < Output::takers; ++part) {
      const float* theirs = place(part % Schedule::warps_k, vector);
      if (Schedule::cluster_k > 1) theirs = shared_of_rank(theirs, part / Schedule::warps_k);
      copy_vector<Output::width>(parts[part], theirs);
    }
#pragma unroll
    for (int word = 0; word < Output::width; ++word) {
      words[word] = parts[0][word];
#pragma unroll
      for (int part = 1; part < Output::takers; ++part) words[word] += parts[part][word];
    }
  }

  Accumulators sums_;
};
