#pragma once
#include "matmul/gemv/codes.cuh"
#include "matmul/gemv/lane_sums.cuh"
// Quantised W, stored as n×k. Threads share outputs as in rows.cuh.

constexpr int threads_per_output = Schedule::threads_per_output;
constexpr int step_k = threads_per_output * terms;  // weights between a thread's vectors
constexpr int block_k = step_k * loads;
constexpr int block_n = Schedule::threads / threads_per_output * strips;
constexpr int lanes_k = threads_per_output < 32 ? threads_per_output : 32;
constexpr int parts = threads_per_output / lanes_k;  // sums of an output that are left to the block

class ThreadSums {
 public:
  // For the rows from `first_n` on; w and x are those of the batch.
  __device__ __forceinline__ ThreadSums(const Problem& problem, const QuantisedRows& w, const Element* x,
                                        int first_n)
      : x_(x + lane_k() * terms), ldx_(problem.ldx) {
#if group_size > 0
    groups_ = problem.groups;
#endif
#pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
      int row = first_n + group() * strips + strip;
#if edge_n
      row = min(row, problem.n - 1);  // a sum beyond the last one is that one again, and not stored
#endif
      rows_[strip] = w.from(problem, row);
      rows_[strip].codes += lane_k() * width;
    }
  }

  // One of the thread's vectors of the tile from column `first_k` of W on, of which `inside` columns are
  // there.
  template <bool guarded>
  __device__ __forceinline__ Source source(int load, int strip, int first_k, int inside) const {
    const int left = inside - lane_k() * terms - load * step_k;
    return {rows_[strip].codes + (first_k + load * step_k) / Problem::packed,
            guarded ? (left + Problem::packed - 1) / Problem::packed : width};
  }

  // Adds the products of such a tile, whose vectors `tile` gives.
  template <bool guarded, class Tile>
  __device__ __forceinline__ void multiply(int first_k, int inside, Tile tile) {
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      const int k = first_k + load * step_k;  // the first thread's
      const int left = inside - lane_k() * terms - load * step_k;
      float zeros[strips] = {};
#if group_size > 0
      float scales[strips], sums[Problem::m * strips] = {};
#  pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
#  if stages > 1
        const Group group = of_tile_.now[load][strip];
#  else
        const Group group =
            group_at<guarded>(rows_[strip], first_k + lane_k() * terms, load * step_k, groups_);
#  endif
        scales[strip] = group.scale();
        zeros[strip] = group.zero();
      }
      add_vectors<guarded>(sums, k, left, zeros, [&](int strip) { return tile(load, strip); });
#  pragma unroll
      for (int i = 0; i < Problem::m * strips; ++i) sums_[i] = fmaf(scales[i % strips], sums[i], sums_[i]);
#else
      add_vectors<guarded>(sums_, k, left, zeros, [&](int strip) { return tile(load, strip); });
#endif
    }
  }
#if group_size > 0 && stages > 1

  // Loads the groups of the tile from column `first_k` on.
  __device__ __forceinline__ void load_groups(int first_k) {
    of_tile_.load(rows_, first_k + lane_k() * terms, step_k, groups_);
  }

  // From now on, tiles have the groups that were loaded; those of the next one follow, from column `next_k`
  // of `k` on, if there is one.
  __device__ __forceinline__ void advance_groups(int next_k, int k) {
    of_tile_.advance();
    if (next_k < k) load_groups(next_k);
  }
#endif
#if shared_x

  // From now on, x is what `tile` has: its element k + vector * x_pitch.
  __device__ __forceinline__ void read_x(const Element* tile) {
    x_ = tile + lane_k() * terms;
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

  // Adds the products of a vector of each strip, less the zero points, of which `left` weights are there.
  template <bool guarded, class Vectors>
  __device__ __forceinline__ void add_vectors(float (&sums)[Problem::m * strips], int k, int left,
                                              const float (&zeros)[strips], Vectors vector_of) const {
#pragma unroll
    for (int first = 0; first < terms; first += chunk) {
      float w[strips][chunk];
#pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
        decode(w[strip], vector_of(strip), first / chunk, zeros[strip]);
      }
#pragma unroll
      for (int vector = 0; vector < Problem::m; ++vector) {
        float x[chunk];
        load_x<chunk, guarded>(x, x_ + vector * ldx_ + k + first, left - first);
#pragma unroll
        for (int i = 0; i < chunk; ++i) {
#pragma unroll
          for (int strip = 0; strip < strips; ++strip) {
            float& sum = sums[vector * strips + strip];
            sum = fmaf(w[strip][i], x[i], sum);
          }
        }
      }
    }
  }

  QuantisedRows rows_[strips];
  const Element* x_;
  long long ldx_;
#if group_size > 0
  int groups_;
#  if stages > 1
  TileGroups of_tile_;
#  endif
#endif
  float sums_[Problem::m * strips] = {};
};
