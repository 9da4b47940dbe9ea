#pragma once
#include "cuda/tensor_core.cuh"
#include "matmul/gemv/pairs.cuh"
// Quantised W, stored as n×k, multiplied by tensor cores as in tensor_rows.cuh. Of few vectors x, the 8
// columns that tensor cores multiply by are several parts of each: column c is vector c / spread where it
// meets the loads c % spread of a thread. So each lane loads x once for `spread` loads. The product of a load
// and another's x is not used.

constexpr int lanes_k = 4;
constexpr int threads_per_output = Schedule::threads_per_output;
constexpr int parts = threads_per_output / lanes_k;  // sums of an output that are left to the block
constexpr int load_k = lanes_k * terms;  // weights between a thread's vectors: a warp's are neighbours
constexpr int warp_k = load_k * loads;
constexpr int block_k = warp_k * parts;
constexpr int warp_n = 8 * strips;
constexpr int block_n = Schedule::threads / 32 / parts * warp_n;
constexpr int tiles_m = (Problem::m + 7) / 8;  // tiles of 8 columns
constexpr int spread = Problem::spread;
#if group_size > 0
#  include "matmul/gemv/warp_groups.cuh"
#endif

class ThreadSums {
 public:
  // For the rows from `first_n` on; w and x are those of the batch.
  __device__ __forceinline__ ThreadSums(const Problem& problem, const QuantisedRows& w, const Element* x,
                                        int first_n) {
    meet_x(x, problem.ldx);
#if group_size > 0
    groups_ = problem.groups;
#endif
#pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
      int row = first_n + first_row() + 8 * strip;
#if edge_n
      row = min(row, problem.n - 1);  // a sum beyond the last one is that one again, and not stored
#endif
      rows_[strip] = w.from(problem, row);
      rows_[strip].codes += lane_k() / Problem::packed;
    }
  }

  // One of the thread's vectors of the tile from column `first_k` of W on, of which `inside` columns are
  // there.
  template <bool guarded>
  __device__ __forceinline__ Source source(int load, int strip, int first_k, int inside) const {
    const int left = inside - lane_k() - load * load_k;
    return {rows_[strip].codes + (first_k + load * load_k) / Problem::packed,
            guarded ? (left + Problem::packed - 1) / Problem::packed : width};
  }

  // Adds the products of such a tile, whose vectors `tile` gives.
  template <bool guarded, class Tile>
  __device__ __forceinline__ void multiply(int first_k, int inside, Tile tile) {
#if group_size > 0
#  if stages > 1
    const WarpGroups& groups = now_;
#  else
    WarpGroups groups;
    groups.load<guarded>(rows_, first_k + warp_first_k(), groups_);
#  endif
#endif
#pragma unroll
    for (int first_load = 0; first_load < loads; first_load += spread) {
      Sums sums[spread] = {};
#if spread > 1
      const int k_of_x = (first_load + quad() % spread) * load_k;
      Pairs x[terms / chunk];
#  pragma unroll
      for (int i = 0; i < terms / chunk; ++i) {
        const int k = k_of_x + i * chunk;
        x[i] = load_x_pairs<guarded>(x_[0] + (first_k + k), inside - lane_k() - k);
      }
#endif
#pragma unroll
      for (int i = 0; i < spread; ++i) {
        const int load = first_load + i;
        Vector vectors[strips];
        unsigned zeros[strips] = {};
#pragma unroll
        for (int strip = 0; strip < strips; ++strip) {
          vectors[strip] = tile(load, strip);
#if zeros
          zeros[strip] = groups.zeros(strip, load);
#endif
        }
#pragma unroll
        for (int first = 0; first < terms; first += chunk) {
          Pairs w[strips];
#pragma unroll
          for (int strip = 0; strip < strips; ++strip) {
            w[strip] = decoded_pairs(vectors[strip], first / chunk, zeros[strip]);
          }
#if spread > 1
          add_products(sums[i], 0, w, x[first / chunk]);
#else
#  pragma unroll
          for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
            const int k = load * load_k + first;
            add_products(sums[i], tile_m, w,
                         load_x_pairs<guarded>(x_[tile_m] + (first_k + k), inside - lane_k() - k));
          }
#endif
        }
      }
#if spread > 1
      // Of a lane's two columns, the sums of the loads that these meet.
      const int meets = first_load + 2 * place() % spread;
#  pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
#  pragma unroll
        for (int i = 0; i < 2; ++i) {
          float sum = sums[i][strip / 2][0][strip % 2 * 2 + i];
#  pragma unroll
          for (int other = 2; other < spread; other += 2) {
            if (meets == first_load + other) sum = sums[other + i][strip / 2][0][strip % 2 * 2 + i];
          }
#  if group_size > 0
          sums_[strip] = fmaf(groups.scale(strip, meets + i, i), sum, sums_[strip]);
#  else
          sums_[strip] += sum;
#  endif
        }
      }
#else
#  pragma unroll
      for (int strip = 0; strip < strips; ++strip) {
#  if group_size > 0
        const float scale = groups.scale(strip, first_load, first_load);
#  endif
#  pragma unroll
        for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
#  pragma unroll
          for (int i = strip % 2 * 2; i < strip % 2 * 2 + 2; ++i) {
            float& sum = sums_[strip / 2][tile_m][i];
#  if group_size > 0
            sum = fmaf(scale, sums[0][strip / 2][tile_m][i], sum);
#  else
            sum += sums[0][strip / 2][tile_m][i];
#  endif
          }
        }
      }
#endif
    }
  }
#if group_size > 0 && stages > 1

  // Loads the groups of the tile from column `first_k` on.
  __device__ __forceinline__ void load_groups(int first_k) {
#  if edge_k
    next_.load<true>(rows_, first_k + warp_first_k(), groups_);
#  else
    next_.load<false>(rows_, first_k + warp_first_k(), groups_);
#  endif
  }

  // From now on, tiles have the groups that were loaded; those of the next one follow, from column `next_k`
  // of `k` on, if there is one: otherwise each tile would wait for its own.
  __device__ __forceinline__ void advance_groups(int next_k, int k) {
    now_ = next_;
    if (next_k < k) load_groups(next_k);
  }
#endif
#if shared_x

  // From now on, x is what `tile` has: its element k + vector * x_pitch.
  __device__ __forceinline__ void read_x(const Element* tile) { meet_x(tile, Problem::x_pitch); }
#endif

  // Leaves the sums of the warp in shared memory, `parts` of each output.
  __device__ __forceinline__ void store(float* shared) {
    float* part = shared + threadIdx.x / 32 % parts * (Problem::m * block_n) + first_row();
#pragma unroll
    for (int strip = 0; strip < strips; ++strip) {
#if spread > 1
      float sum = sums_[strip];
#  pragma unroll
      for (int step = 1; step < spread / 2; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      const int vector = 2 * place() / spread;
      if (2 * place() % spread == 0 && vector < Problem::m) part[vector * block_n + 8 * strip] = sum;
#else
#  pragma unroll
      for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
#  pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int vector = 8 * tile_m + 2 * place() + i;
          const float sum = sums_[strip / 2][tile_m][strip % 2 * 2 + i];
          if (vector < Problem::m) part[vector * block_n + 8 * strip] = sum;
        }
      }
#endif
    }
  }

 private:
  using Sums = float[strips / 2][tiles_m][4];

  static __device__ __forceinline__ int place() { return threadIdx.x % lanes_k; }
  static __device__ __forceinline__ int quad() { return threadIdx.x % 32 / lanes_k; }
  // Columns of a tile before the warp's and the lane's.
  static __device__ __forceinline__ int warp_first_k() { return threadIdx.x / 32 % parts * warp_k; }
  static __device__ __forceinline__ int lane_k() { return warp_first_k() + place() * terms; }
  // Of the thread's first strip, in the block.
  static __device__ __forceinline__ int first_row() { return threadIdx.x / 32 / parts * warp_n + quad(); }

  // Has the lane take x from there on, whose vectors are `pitch` apart.
  __device__ __forceinline__ void meet_x(const Element* x, long long pitch) {
#pragma unroll
    for (int tile_m = 0; tile_m < tiles_m; ++tile_m) {
      // Sums of a vector that is not there are those of the last one, and not stored.
      x_[tile_m] = x + min((8 * tile_m + quad()) / spread, Problem::m - 1) * pitch + lane_k();
    }
  }

  // Adds the products of a chunk of each strip by 8 columns.
  static __device__ __forceinline__ void add_products(Sums& sums, int tile_m, const Pairs (&w)[strips],
                                                      const Pairs& x) {
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

  QuantisedRows rows_[strips];
  const Element* x_[tiles_m];  // the quad's vector of each 8 columns
#if group_size > 0
  int groups_;
#  if stages > 1
  WarpGroups now_, next_;
#  endif
#endif
#if spread > 1
  float sums_[strips] = {};  // sums of a vector and one or two parts of it
#else
  Sums sums_ = {};
#endif
};
