#pragma once
#include "cuda/transpose_words.cuh"
#include "matmul/gemm/wgmma/sums.cuh"
// A consumer's sums on their way to D of bytes from registers, where rows of D lie at multiples of 16 bytes.

constexpr int staged_bytes = 0;

// Of each 64 columns, a lane gets 16 neighbours of a row from the others of its four.
__device__ __forceinline__ void store_sums(const Arguments& arguments, const Problem& problem,
                                           const Tile& tile, const Consumer& own, const StoredSums& sums) {
#pragma unroll
  for (int product = 0; product < products_m; ++product) {
    const SumRows rows(arguments, problem, tile, own.row + product * product_rows);
#pragma unroll
    for (int j = 0; j < stored_columns / 8; j += 8) {
      unsigned words[2][4] = {};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        Pair results[2];
        finish_sums(results, arguments, problem, sums.d[product] + 4 * (j + i), rows,
                    tile.n + 8 * (j + i) + SumRows::column());
        words[0][i / 2] |= static_cast<unsigned>(results[0].packed.bits) << i % 2 * 16;
        words[1][i / 2] |= static_cast<unsigned>(results[1].packed.bits) << i % 2 * 16;
      }
#if beta_nonzero
      __syncwarp();  // all lanes have what they need of C, which may be D
#endif
      const int n = tile.n + 8 * j + threadIdx.x % 4 * 16;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Lower halves become the pairs of one group of 8 columns, upper ones those of the next.
        transpose_words(words[half]);
        const unsigned (&whole)[4] = words[half];
        if (rows.inside(problem, half) && n < problem.n)
          *reinterpret_cast<uint4*>(arguments.d + rows.offset[half] + n) =
              make_uint4(__byte_perm(whole[0], whole[1], 0x5410), __byte_perm(whole[2], whole[3], 0x5410),
                         __byte_perm(whole[0], whole[1], 0x7632), __byte_perm(whole[2], whole[3], 0x7632));
      }
    }
  }
}

__device__ __forceinline__ void finish_stores() {}
