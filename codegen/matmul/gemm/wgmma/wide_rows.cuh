#pragma once
#include "cuda/transpose_words.cuh"
#include "matmul/gemm/wgmma/sums.cuh"
// A consumer's sums on their way to D from registers, where rows of D lie anywhere, at multiples of 16 bytes.

constexpr int staged_bytes = 0;

// Of each 32 columns, a lane gets 8 neighbours of a row from the others of its four.
__device__ __forceinline__ void store_sums(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, const Consumer& own, const StoredSums& sums) {
#pragma unroll
  for (int product = 0; product < products_m; ++product) {
    const SumRows rows(arguments, problem, tile, own.row + product * product_rows);
#pragma unroll
    for (int j = 0; j < stored_columns / 8; j += 4) {
      unsigned words[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        Pair results[2];
        finish_sums(results, arguments, problem, sums.d[product] + 4 * (j + i), rows,
                    tile.n + 8 * (j + i) + SumRows::column());
        words[0][i] = results[0].packed.bits, words[1][i] = results[1].packed.bits;
      }
      const int n = tile.n + 8 * (j + threadIdx.x % 4);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        transpose_words(words[half]);
        if (rows.inside(problem, half) && n < problem.n)
          *reinterpret_cast<uint4*>(arguments.d + rows.offset[half] + n) =
              make_uint4(words[half][0], words[half][1], words[half][2], words[half][3]);
      }
    }
  }
}

__device__ __forceinline__ void finish_stores() {}
