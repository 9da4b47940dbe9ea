#pragma once
#include "matmul/gemv/weights.cuh"
// W is stored as k×n. Neighbouring threads take neighbouring vectors of a row of W, and groups of threads
// take rows in turn: as many neighbouring ones as a tile has of each thread, so that x comes in vectors, too.

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
#if transpose_x
  __device__ __forceinline__ ThreadSums(const Problem& problem, const Element* w, const Element* x,
                                        int first_n)
      : w_(w + group() * loads * problem.ldw + first_n + lane_n() * width),
        x_(x + group() * loads * problem.ldx),
        ldw_(problem.ldw),
        ldx_(problem.ldx),
        inside_n_(problem.n - first_n - lane_n() * width) {}
#else
  __device__ __forceinline__ ThreadSums(const Problem& problem, const Element* w, const Element* x,
                                        int first_n)
      : w_(w + group() * loads * problem.ldw + first_n + lane_n() * width),
        x_(x + group() * loads),
        ldw_(problem.ldw),
        ldx_(problem.ldx),
        inside_n_(problem.n - first_n - lane_n() * width) {}
#endif

  // One of the thread's vectors of the tile from row `first_k` of W on, of which `inside` rows are there.
  template <bool guarded>
  __device__ __forceinline__ Source source(int load, int strip, int first_k, int inside) const {
#if edge_n
    const int inside_n = inside_n_ - strip * step_n;
#else
    constexpr int inside_n = width;
#endif
    const bool there = !guarded || load < inside - group() * loads;
    return {w_ + (first_k + load) * ldw_ + strip * step_n, there ? inside_n : 0};
  }

  // Adds the products of such a tile, whose vectors `tile` gives.
  template <bool guarded, class Tile>
  __device__ __forceinline__ void multiply(int first_k, int inside, Tile tile) {
#if transpose_x
    float all_x[Problem::m][loads];
    load_x_rows<loads, guarded>(all_x, x_ + first_k * ldx_, ldx_, inside - group() * loads);
#endif
#pragma unroll
    for (int vector = 0; vector < Problem::m; ++vector) {
#if transpose_x
      const float (&x)[loads] = all_x[vector];
#else
      float x[loads];
      load_x<loads, guarded>(x, x_ + vector * ldx_ + first_k, inside - group() * loads);
#endif
#pragma unroll
      for (int load = 0; load < loads; ++load) {
#pragma unroll
        for (int strip = 0; strip < strips; ++strip) {
          float w[width];
          to_floats(w, tile(load, strip).elements);
#pragma unroll
          for (int i = 0; i < width; ++i) {
            float& sum = sums_[(vector * strips + strip) * width + i];
            sum = fmaf(w[i], x[load], sum);
          }
        }
      }
    }
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

  const Element* w_;
  const Element* x_;
  long long ldw_, ldx_;
  int inside_n_;
  float sums_[Problem::m * strips * width] = {};
};
