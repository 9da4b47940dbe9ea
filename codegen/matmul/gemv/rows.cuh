#pragma once
#include "matmul/gemv/lane_sums.cuh"
#include "matmul/gemv/weights.cuh"
// W is stored as n×k. The threads of an output take neighbouring vectors of its row in turn. Each works on
// several rows with the same elements of x.

constexpr int threads_per_output = Schedule::threads_per_output;
constexpr int step_k = threads_per_output * width;  // elements between a thread's vectors
constexpr int block_k = step_k * loads;
constexpr int block_n = Schedule::threads / threads_per_output * strips;
constexpr int lanes_k = threads_per_output < 32 ? threads_per_output : 32;
constexpr int parts = threads_per_output / lanes_k;  // sums of an output that are left to the block

class ThreadSums {
 public:
  // For the rows from `first_n` on; w and x are those of the batch.
  __device__ __forceinline__ ThreadSums(const Problem& problem, const Element* w, const Element* x,
                                        int first_n)
#if transpose_x
      : x_(x + lane_k() * width * problem.ldx), ldx_(problem.ldx) {
#else
      : x_(x + lane_k() * width), ldx_(problem.ldx) {
#endif
#pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
      int row = first_n + group() * strips + strip;
#if edge_n
      row = min(row, problem.n - 1);  // a sum beyond the last one is that one again, and not stored
#endif
      rows_[strip] = w + row * problem.ldw + lane_k() * width;
    }
  }

  // One of the thread's vectors of the tile from column `first_k` of W on, of which `inside` columns are
  // there.
  template <bool guarded>
  __device__ __forceinline__ Source source(int load, int strip, int first_k, int inside) const {
    const int left = inside - lane_k() * width - load * step_k;
    return {rows_[strip] + first_k + load * step_k, guarded ? left : width};
  }

  // Adds the products of such a tile, whose vectors `tile` gives.
  template <bool guarded, class Tile>
  __device__ __forceinline__ void multiply(int first_k, int inside, Tile tile) {
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      float w[strips][width];
#pragma unroll
      for (int strip = 0; strip < strips; ++strip) to_floats(w[strip], tile(load, strip).elements);
#if transpose_x
      float all_x[Problem::m][width];
      load_x_rows<width, guarded>(all_x, x_ + (first_k + load * step_k) * ldx_, ldx_,
                                  inside - lane_k() * width - load * step_k);
#endif
#pragma unroll
      for (int vector = 0; vector < Problem::m; ++vector) {
#if transpose_x
        const float (&x)[width] = all_x[vector];
#else
        float x[width];
        load_x<width, guarded>(x, x_ + vector * ldx_ + first_k + load * step_k,
                               inside - lane_k() * width - load * step_k);
#endif
#pragma unroll
        for (int i = 0; i < width; ++i) {
#pragma unroll
          for (int strip = 0; strip < strips; ++strip) {
            float& sum = sums_[vector * strips + strip];
            sum = fmaf(w[strip][i], x[i], sum);
          }
        }
      }
    }
  }
#if shared_x

  // From now on, x is what `tile` has: its element k + vector * x_pitch.
  __device__ __forceinline__ void read_x(const Element* tile) {
    x_ = tile + lane_k() * width;
    ldx_ = Problem::x_pitch;
  }
#endif

  // Leaves the sums of the warp in shared memory, `parts` of each output.
  __device__ __forceinline__ void store(float* shared) {
    float* part = shared + threadIdx.x % threads_per_output / 32 * (Problem::m * block_n);
    for_each_lane_sum<lanes_k>(sums_, [&](int index, float sum) {
      part[index / strips * block_n + group() * strips + index % strips] = sum;
    });
  }

 private:
  static __device__ __forceinline__ int lane_k() { return threadIdx.x % threads_per_output; }
  static __device__ __forceinline__ int group() { return threadIdx.x / threads_per_output; }

  const Element* rows_[strips];
  const Element* x_;
  long long ldx_;
  float sums_[Problem::m * strips] = {};
};
