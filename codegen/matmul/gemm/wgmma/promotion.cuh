#pragma once
#include "matmul/gemm/wgmma/sums.cuh"

// Adds sums of tensor cores to those in FP32, by which they are multiplied where blocks have scales. For a
// consumer's part of a tile of D.
class Promotion {
#if scales == block_scales
  static constexpr int scale_block = 128;  // terms, and columns of op(B)
  static constexpr int column_blocks = Schedule::block_n < scale_block ? 1 : Schedule::block_n / scale_block;

 public:
  // The scales of the thread's rows, and those of the columns of a tile.
  struct Factors {
    float a[products_m][2];
    float b[column_blocks];
  };

  __device__ __forceinline__ Promotion(const Arguments& arguments, const Problem& problem, const Tile& tile,
                                       const Consumer& own)
      : blocks_((problem.k - 1u) / scale_block + 1),
        first_row_(tile.m + own.row + SumRows::row()),
        last_row_(problem.m - 1),
        first_block_(tile.n / scale_block),
        last_block_((problem.n - 1) / scale_block),
        scale_a_(arguments.scale_a),
        scale_b_(arguments.scale_b) {}

  // Those of the terms from a stage on; what is outside of D, and not stored, gets those of its edge.
  __device__ __forceinline__ Factors factors(int step) const {
    const int block = step * Schedule::block_k / scale_block;
    Factors found;
#  pragma unroll
    for (int i = 0; i < 2 * products_m; ++i) {
      const int row = min(first_row_ + i / 2 * product_rows + i % 2 * 8, last_row_);
      found.a[i / 2][i % 2] = scale_a_[static_cast<long long>(row) * blocks_ + block];
    }
#  pragma unroll
    for (int i = 0; i < column_blocks; ++i) {
      const int column = min(first_block_ + i, last_block_);
      found.b[i] = scale_b_[static_cast<long long>(column) * blocks_ + block];
    }
    return found;
  }

  __device__ __forceinline__ void add(Accumulators& sums, const Accumulators& partial,
                                      const Factors& factors) const {
#  pragma unroll
    for (int product = 0; product < products_m; ++product) {
#  pragma unroll
      for (int i = 0; i < Schedule::block_n / 2; ++i) {
        const float scale = factors.a[product][i / 2 % 2] * factors.b[i / 4 * 8 / scale_block];
        sums.d[product][i] = fmaf(partial.d[product][i], scale, sums.d[product][i]);
      }
    }
  }

 private:
  int blocks_;
  int first_row_, last_row_;
  int first_block_, last_block_;
  const float *scale_a_, *scale_b_;
#else
 public:
  struct Factors {};

  __device__ __forceinline__ Promotion(const Arguments&, const Problem&, const Tile&, const Consumer&) {}
  __device__ __forceinline__ Factors factors(int) const { return {}; }
  __device__ __forceinline__ void add(Accumulators& sums, const Accumulators& partial, const Factors&) const {
#  pragma unroll
    for (int product = 0; product < products_m; ++product) {
#  pragma unroll
      for (int i = 0; i < Schedule::block_n / 2; ++i) sums.d[product][i] += partial.d[product][i];
    }
  }
#endif
};
