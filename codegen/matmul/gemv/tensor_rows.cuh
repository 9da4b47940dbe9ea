#pragma once
#include "cuda/tensor_core.cuh"
#include "matmul/gemv/pairs.cuh"
// W is stored as n×k, and tensor cores multiply: 16 rows of W by 8 vectors of x. Four lanes of a warp share a
// row and have neighbouring vectors of it. Of two strips of a thread, the first is in the upper 8 of the 16
// rows. The elements that a lane brings of a row are neighbours in memory, and those of a vector of x are the
// same ones: it does not matter how the terms of a sum are numbered.

constexpr int lanes_k = 4;
constexpr int threads_per_output = Schedule::threads_per_output;
constexpr int parts =
    threads_per_output / lanes_k;  // sums of an output that are left to the block: one of a warp
constexpr int step_k = threads_per_output * terms;  // weights between a thread's vectors
constexpr int block_k = step_k * loads;
constexpr int warp_n = 8 * strips;
constexpr int block_n = Schedule::threads / 32 / parts * warp_n;
constexpr int tiles_m = (Problem::m + 7) / 8;  // tiles of 8 vectors

class ThreadSums {
 public:
  // For the rows from `first_n` on; w and x are those of the batch.
#if weights == plain
  __device__ __forceinline__ ThreadSums(const Problem& problem, const Element* w, const Element* x,
                                        int first_n)
#else
  __device__ __forceinline__ ThreadSums(const Problem& problem, const QuantisedRows& w, const Element* x,
                                        int first_n)
#endif
  {
#if group_size > 0
    groups_ = problem.groups;
#endif
#pragma unroll
    for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
      // Sums of a vector that is not there are those of the last one, and not stored.
      const int vector = min(8 * tile_m + quad(), Problem::m - 1);
      x_[tile_m] = x + vector * problem.ldx + lane_k() * terms;
    }
#pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
      int row = first_n + first_row() + 8 * strip;
#if edge_n
      row = min(row, problem.n - 1);  // a sum beyond the last one is that one again, and not stored
#endif
#if weights == plain
      rows_[strip] = w + row * problem.ldw + lane_k() * width;
#else
      rows_[strip] = w.from(problem, row);
      rows_[strip].codes += lane_k() * width;
#endif
    }
  }

  // One of the thread's vectors of the tile from column `first_k` of W on, of which `inside` columns are
  // there.
  template <bool guarded>
  __device__ __forceinline__ Source source(int load, int strip, int first_k, int inside) const {
    const int left = inside - lane_k() * terms - load * step_k;
#if weights == plain
    return {rows_[strip] + first_k + load * step_k, guarded ? left : width};
#else
    return {rows_[strip].codes + (first_k + load * step_k) / Problem::packed,
            guarded ? (left + Problem::packed - 1) / Problem::packed : width};
#endif
  }

  // Adds the products of such a tile, whose vectors `tile` gives.
  template <bool guarded, class Tile>
  __device__ __forceinline__ void multiply(int first_k, int inside, Tile tile) {
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      const int left = inside - lane_k() * terms - load * step_k;
      float zeros[strips] = {};
#if group_size > 0
      float scales[strips], sums[strips / 2][tiles_m][4] = {};
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
      add_vectors<guarded>(sums, first_k, load * step_k, left, zeros,
                           [&](int strip) { return tile(load, strip); });
      for_each_sum(sums_, [&](float& sum, int strip, int tile_m, int i) {
        sum = fmaf(scales[strip], sums[strip / 2][tile_m][i], sum);
      });
#else
      add_vectors<guarded>(sums_, first_k, load * step_k, left, zeros,
                           [&](int strip) { return tile(load, strip); });
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
#  pragma unroll
    for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
      const int vector = min(8 * tile_m + quad(), Problem::m - 1);
      x_[tile_m] = tile + vector * Problem::x_pitch + lane_k() * terms;
    }
  }
#endif

  // Leaves the sums of the warp in shared memory, `parts` of each output.
  __device__ __forceinline__ void store(float* shared) {
    float* part = shared + threadIdx.x / 32 % parts * (Problem::m * block_n) + first_row();
    for_each_sum(sums_, [&](float& sum, int strip, int tile_m, int i) {
      const int vector = 8 * tile_m + 2 * place() + i % 2;
      if (vector < Problem::m) part[vector * block_n + 8 * strip] = sum;
    });
  }

 private:
  using Sums = float[strips / 2][tiles_m][4];

  static __device__ __forceinline__ int place() { return threadIdx.x % lanes_k; }
  static __device__ __forceinline__ int quad() { return threadIdx.x % 32 / lanes_k; }
  static __device__ __forceinline__ int lane_k() { return threadIdx.x / 32 % parts * lanes_k + place(); }
  // Of the thread's first strip, in the block.
  static __device__ __forceinline__ int first_row() { return threadIdx.x / 32 / parts * warp_n + quad(); }

  // Adds the products of the vectors at `first_k` + `k`, less the zero points, of which `left` weights are
  // there.
  template <bool guarded, class Vectors>
  __device__ __forceinline__ void add_vectors(Sums& sums, int first_k, int k, int left,
                                              const float (&zeros)[strips], Vectors vector_of) const {
#pragma unroll
    for (int first = 0; first < terms; first += chunk) {
      Pairs w[strips];
#pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
        w[strip] = decoded_pairs(vector_of(strip), first / chunk, zeros[strip]);
      }
#pragma unroll
      for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
        const Pairs x = load_x_pairs<guarded>(x_[tile_m] + first_k + (k + first), left - first);
#pragma unroll
        for (int half = 0; half < chunk / 2; half += 2) {
          const unsigned b[2] = {x.pairs[half], x.pairs[half + 1]};
#pragma unroll
          for (int strip = 0; strip < strips; strip += 2) {
            const unsigned a[4] = {w[strip].pairs[half], w[strip + 1].pairs[half], w[strip].pairs[half + 1],
                                   w[strip + 1].pairs[half + 1]};
            add_product<Element>(sums[strip / 2][tile_m], a, b);
          }
        }
      }
    }
  }

  // Calls `visit` with each sum, its strip, its 8 vectors, and which of the four in the fragment it is.
  template <class Visit>
  static __device__ __forceinline__ void for_each_sum(Sums& sums, Visit visit) {
#pragma unroll
    for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
#pragma unroll
      for (int pair = 0; pair < strips / 2; ++pair) {
#pragma unroll
        for (int i = 0; i < 4; ++i) visit(sums[pair][tile_m][i], 2 * pair + i / 2, tile_m, i);
      }
    }
  }

#if weights == plain
  const Element* rows_[strips];
#else
  QuantisedRows rows_[strips];
#endif
  const Element* x_[tiles_m];  // the quad's vector of each 8
#if group_size > 0
  int groups_;
#  if stages > 1
  TileGroups of_tile_;
#  endif
#endif
  Sums sums_ = {};
};
