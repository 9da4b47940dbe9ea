#pragma once
// A block computes a tile of C from tiles of A and B in shared memory; a thread sums its part of the tile in
// registers.
#include "cuda/shared_memory.cuh"
#include "cuda/vector.cuh"

constexpr int threads = Schedule::block_m / Schedule::thread_m * (Schedule::block_n / Schedule::thread_n);

// Elements from a row of a tile to the next. Padding keeps the elements of a column of A in different banks.
constexpr int pitch_a = Schedule::block_m + 4;
constexpr int pitch_b = Schedule::block_n;

// Both tiles have a row for each k.
struct SharedTiles {
  alignas(16) float a[Schedule::block_k][pitch_a];
  alignas(16) float b[Schedule::block_k][pitch_b];
};

// Copies the tiles of an operand one after the other: `extent` rows of op(A), or columns of op(B), by
// block_k. `along_k`: neighbours along k are neighbours in global memory, so that the copy transposes.
template <int extent, bool along_k>
class TileCopy {
  static constexpr int vector = Schedule::vector;
  static constexpr int row_vectors = (along_k ? Schedule::block_k : extent) / vector;
  static constexpr int rounds = extent * Schedule::block_k / (threads * vector);

 public:
  // `extent_left` elements of the operand are left from `origin` to the edge, and `k` along k.
  __device__ TileCopy(const float* origin, long long leading, int extent_left, int k)
      : origin_(origin), leading_(leading), extent_left_(extent_left), k_(k) {}

  // Loads the tile that begins at k0; elements outside of the operand are 0.
  __device__ __forceinline__ void load(int k0) {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int row = index(round) / row_vectors, column = index(round) % row_vectors * vector;
      const int row_in_memory = along_k ? row : k0 + row, column_in_memory = along_k ? k0 + column : column;
      const int rows = along_k ? extent_left_ : k_, columns = along_k ? k_ : extent_left_;
      const float* source = origin_ + row_in_memory * leading_ + column_in_memory;
      const int left = row_in_memory < rows ? columns - column_in_memory : 0;
      if (left >= vector) {
        copy_vector<vector>(loaded_[round], source);
      } else {
        for (int i = 0; i < vector; ++i) loaded_[round][i] = i < left ? source[i] : 0.0f;
      }
    }
  }

  // Stores the loaded tile, whose first element is `tile` and whose rows are `pitch` elements apart.
  __device__ __forceinline__ void store(float* tile, int pitch) const {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int row = index(round) / row_vectors, column = index(round) % row_vectors * vector;
      if constexpr (along_k) {
        for (int i = 0; i < vector; ++i) tile[(column + i) * pitch + row] = loaded_[round][i];
      } else {
        copy_vector<vector>(tile + row * pitch + column, loaded_[round]);
      }
    }
  }

 private:
  // The vector of the tile that this thread copies in a round.
  static __device__ __forceinline__ int index(int round) { return round * threads + threadIdx.x; }

  const float* origin_;
  long long leading_;
  int extent_left_;
  int k_;
  alignas(16) float loaded_[rounds][vector];
};

// The first element of a thread in the tile of C. The others follow in strips of `strip_m` rows and `strip_n`
// columns, `step_m` and `step_n` apart.
struct Position {
  int m;
  int n;
};

#if warp_tiles
// A warp computes 32 × 64 elements. Its strips alternate between 4 × 8 lanes, whose vectors lie side by side
// in shared memory.
constexpr int strip_m = 4, strip_n = 4, step_m = 16, step_n = 32;

__device__ __forceinline__ Position thread_position() {
  constexpr int warps_n = Schedule::block_n / 64;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / warps_n * 32 + lane / 8 * strip_m, warp % warps_n * 64 + lane % 8 * strip_n};
}
#else
constexpr int strip_m = Schedule::thread_m, strip_n = Schedule::thread_n, step_m = 0, step_n = 0;

__device__ __forceinline__ Position thread_position() {
  constexpr int threads_n = Schedule::block_n / Schedule::thread_n;
  return {int(threadIdx.x) / threads_n * Schedule::thread_m,
          int(threadIdx.x) % threads_n * Schedule::thread_n};
}
#endif

// Elements of an access to shared memory.
constexpr int vector_m = strip_m < Schedule::vector ? strip_m : Schedule::vector;
constexpr int vector_n = strip_n < Schedule::vector ? strip_n : Schedule::vector;

// Offset in the tile of C of a thread's row or column i from its first one.
__device__ __forceinline__ constexpr int offset(int i, int strip, int step) {
  return i / strip * step + i % strip;
}

// Adds the product of a pair of tiles to a thread's sums.
__device__ __forceinline__ void multiply_add(float (&sum)[Schedule::thread_m][Schedule::thread_n],
                                             const SharedTiles& tiles, Position thread) {
#pragma unroll
  for (int k = 0; k < Schedule::block_k; ++k) {
    alignas(16) float a[Schedule::thread_m], b[Schedule::thread_n];
#pragma unroll
    for (int i = 0; i < Schedule::thread_m; i += vector_m)
      copy_vector<vector_m>(a + i, &tiles.a[k][thread.m + offset(i, strip_m, step_m)]);
#pragma unroll
    for (int j = 0; j < Schedule::thread_n; j += vector_n)
      copy_vector<vector_n>(b + j, &tiles.b[k][thread.n + offset(j, strip_n, step_n)]);
#pragma unroll
    for (int i = 0; i < Schedule::thread_m; ++i)
#pragma unroll
      for (int j = 0; j < Schedule::thread_n; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
  }
}

// C = alpha·sum + beta·C for the elements of a thread that are inside of the matrix.
__device__ __forceinline__ void store(const float (&sum)[Schedule::thread_m][Schedule::thread_n], float* c,
                                      const Problem& problem, float alpha, float beta, int rows_left,
                                      int columns_left) {
#pragma unroll
  for (int i = 0; i < Schedule::thread_m; ++i) {
    const int row = offset(i, strip_m, step_m);
#pragma unroll
    for (int j = 0; j < Schedule::thread_n; j += vector_n) {
      const int column = offset(j, strip_n, step_n);
      float* target = c + static_cast<long long>(row) * problem.ldc + column;
      const int left = row < rows_left ? columns_left - column : 0;
      alignas(16) float result[vector_n];
#pragma unroll
      for (int l = 0; l < vector_n; ++l) {
        result[l] = alpha * sum[i][j + l];
        if (beta != 0.0f && l < left) result[l] += beta * target[l];
      }
      if (left >= vector_n) {
        copy_vector<vector_n>(target, result);
      } else {
        for (int l = 0; l < left; ++l) target[l] = result[l];
      }
    }
  }
}

__device__ __forceinline__ void sgemm_tiled(const Arguments& arguments) {
  const Problem problem(arguments);
  const int tiles_m = (problem.m + Schedule::block_m - 1) / Schedule::block_m;
  const int tiles_n = (problem.n + Schedule::block_n - 1) / Schedule::block_n;
  const int m = blockIdx.x / tiles_n % tiles_m * Schedule::block_m;
  const int n = blockIdx.x % tiles_n * Schedule::block_n;
  const long long batch = blockIdx.x / tiles_n / tiles_m;

  const int k = arguments.alpha == 0.0f ? 0 : problem.k;  // with alpha = 0, A and B are not read
  TileCopy<Schedule::block_m, !Problem::transpose_a> copy_a(
      arguments.a + batch * problem.stride_a + m * (Problem::transpose_a ? 1ll : problem.lda), problem.lda,
      problem.m - m, k);
  TileCopy<Schedule::block_n, Problem::transpose_b> copy_b(
      arguments.b + batch * problem.stride_b + n * (Problem::transpose_b ? problem.ldb : 1ll), problem.ldb,
      problem.n - n, k);
  auto* tiles = dynamic_shared<SharedTiles>();
  const Position thread = thread_position();
  float sum[Schedule::thread_m][Schedule::thread_n] = {};
#if stages == 1
  for (int k0 = 0; k0 < k; k0 += Schedule::block_k) {
    copy_a.load(k0);
    copy_b.load(k0);
    copy_a.store(tiles->a[0], pitch_a);
    copy_b.store(tiles->b[0], pitch_b);
    __syncthreads();
    multiply_add(sum, *tiles, thread);
    __syncthreads();
  }
#else
  // The next tiles are loaded while the present ones are multiplied, and stored beside them.
  copy_a.load(0);
  copy_b.load(0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += Schedule::block_k, stage ^= 1) {
    copy_a.store(tiles[stage].a[0], pitch_a);
    copy_b.store(tiles[stage].b[0], pitch_b);
    __syncthreads();
    if (k0 + Schedule::block_k < k) {
      copy_a.load(k0 + Schedule::block_k);
      copy_b.load(k0 + Schedule::block_k);
    }
    multiply_add(sum, tiles[stage], thread);
  }
#endif
  const int row = m + thread.m, column = n + thread.n;
  float* c = arguments.c + batch * problem.stride_c + static_cast<long long>(row) * problem.ldc + column;
  const float alpha = k > 0 ? arguments.alpha : 0.0f;  // a sum of nothing is 0, whatever alpha is
  store(sum, c, problem, alpha, arguments.beta, problem.m - row, problem.n - column);
}
