#pragma once
#include "matmul/gemm/mma_sync/main_loop.cuh"

// Adds sums of tensor cores to those in FP32, by which they are multiplied where blocks have scales. For a
// block's tile of D at row m and column n.
class Promotion {
 public:
#if scales == block_scales
  __device__ __forceinline__ Promotion(const Arguments& arguments, const Problem& problem, int m, int n)
      : blocks_((problem.k - 1u) / scale_block + 1), last_row_(problem.m - 1), scale_a_(arguments.scale_a) {
    const int warp = threadIdx.x / 32, quad = threadIdx.x % 32 / 4;
    first_row_ = m + warp / warps_n * Schedule::warp_m + (TileA::interleaved ? 2 : 1) * quad;
    const int column =
        min(n + warp % warps_n * Schedule::warp_n, problem.n - 1);  // those behind it are not stored
    scale_b_ = arguments.scale_b + static_cast<long long>(column / scale_block) * blocks_;
  }
#else
  __device__ __forceinline__ Promotion(const Arguments&, const Problem&, int, int) {}
#endif

  // The sums up to the end of a tile along k. They begin anew.
  __device__ __forceinline__ void add(Accumulators& sums, Accumulators& partial, int tile) const {
#if scales == block_scales
    const int block = tile / (scale_block / Schedule::block_k);
    const float scale_b = scale_b_[block];
#endif
#pragma unroll
    for (int i = 0; i < products_m; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#if scales == block_scales
        const int row = min(first_row_ + 16 * i + (TileA::interleaved ? 1 : 8) * half, last_row_);
        const float scale = scale_a_[static_cast<long long>(row) * blocks_ + block] * scale_b;
#else
        constexpr float scale = 1.0f;
#endif
#pragma unroll
        for (int j = 0; j < products_n; ++j) {
          float* target = sums.d[i][j] + 2 * half;
          const float* source = partial.d[i][j] + 2 * half;
          target[0] = fmaf(source[0], scale, target[0]);
          target[1] = fmaf(source[1], scale, target[1]);
        }
      }
    }
    partial = {};
  }
#if scales == block_scales

 private:
  static constexpr int scale_block = 128;  // terms, and columns of op(B)
  int blocks_;
  int first_row_, last_row_;
  const float *scale_a_, *scale_b_;
#endif
};
