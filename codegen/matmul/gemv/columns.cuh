#pragma once
#include "matmul/gemv/weights.cuh"
// W is stored as k×n. Neighbouring threads take neighbouring vectors of a row of W, and groups of threads
// take rows in turn: as many neighbouring ones as loads are in flight, so that x comes in vectors, too.

constexpr int threads_per_output = Schedule::threads_per_output;
constexpr int lanes_n = Schedule::threads / threads_per_output;
constexpr int block_k = threads_per_output * loads;
constexpr int step_n = lanes_n * width;  // outputs between a thread's vectors
constexpr int block_n = step_n * strips;
constexpr int warps_n = lanes_n < 32 ? 1 : lanes_n / 32;
constexpr int parts = Schedule::threads / 32 / warps_n;  // sums of an output that are left to the block

class ThreadSums {
 public:
  // For the columns of W from `first_n` on; w and x are those of the batch.
  __device__ __forceinline__ ThreadSums(const Problem& problem, const Element* w, const Element* x,
                                        int first_n)
      : w_(w + group() * loads * problem.ldw + first_n + lane_n() * width),
        x_(x + group() * loads),
        ldw_(problem.ldw),
        ldx_(problem.ldx),
        inside_n_(problem.n - first_n - lane_n() * width) {}

  // Adds block_k products to each sum, from row `first_k` of W on.
  __device__ __forceinline__ void add(int first_k) { add_tile<false>(first_k, loads); }
  // The same, of which so many are there.
  __device__ __forceinline__ void add_inside(int first_k, int inside) {
    add_tile<true>(first_k, inside - group() * loads);
  }

  // Leaves the sums of the warp in shared memory, `parts` of each output.
  __device__ __forceinline__ void store(float* shared) {
    const int warp_k = threadIdx.x / 32 / warps_n;
    float* part = shared + warp_k * (Problem::m * block_n) + lane_n() * width;
#pragma unroll
    for (int i = 0; i < Problem::m * strips * width; ++i) {
      float sum = sums_[i];
#pragma unroll
      for (int step = 16; step >= lanes_n; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      const int vector = i / (strips * width), strip = i / width % strips;
      if (lanes_n >= 32 || threadIdx.x % 32 < lanes_n) {
        part[vector * block_n + strip * step_n + i % width] = sum;
      }
    }
  }

 private:
  static __device__ __forceinline__ int lane_n() { return threadIdx.x % lanes_n; }
  static __device__ __forceinline__ int group() { return threadIdx.x / lanes_n; }

  template <bool guarded>
  __device__ __forceinline__ void add_tile(int first_k, int inside) {
    Vector vectors[loads][strips];
#pragma unroll
    for (int load = 0; load < loads; ++load) {
#pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
        const Element* source = w_ + (first_k + load) * ldw_ + strip * step_n;
#if edge_n
        const int inside_n = inside_n_ - strip * step_n;
#else
        constexpr int inside_n = width;
#endif
        vectors[load][strip] = load_weights_inside(source, !guarded || load < inside ? inside_n : 0);
      }
    }
#pragma unroll
    for (int vector = 0; vector < Problem::m; ++vector) {
      float x[loads];
      load_x<loads, guarded>(x, x_ + vector * ldx_ + first_k, inside);
#pragma unroll
      for (int load = 0; load < loads; ++load) {
#pragma unroll
        for (int strip = 0; strip < strips; ++strip) {
          float w[width];
          to_floats(w, vectors[load][strip].elements);
#pragma unroll
          for (int i = 0; i < width; ++i) {
            float& sum = sums_[(vector * strips + strip) * width + i];
            sum = fmaf(w[i], x[load], sum);
          }
        }
      }
    }
  }

  const Element* w_;
  const Element* x_;
  long long ldw_, ldx_;
  int inside_n_;
  float sums_[Problem::m * strips * width] = {};
};
