#pragma once
#include "cuda/swizzle.cuh"
#include "matmul/gemm/wgmma/stages.cuh"
// A of TF32 that lies across k: products take it from registers, since they transpose 16-bit operands only.

// What a thread has of a stage: for each product of 64 rows and 8 terms, its row lane / 4 of its warp's 16
// and the one 8 below, of term lane % 4 and then of the one 4 behind.
struct Fragments {
  static constexpr int steps = Schedule::block_k / product_k;
  unsigned a[products_m][steps][4];

  __device__ __forceinline__ void load(const unsigned char* tile, int first_row) {
    const int lane = threadIdx.x % 32, term = lane % 4;
    const bool odd = term % 2 != 0;
#pragma unroll
    for (int i = 0; i < 2 * products_m; ++i) {
      const int half = i % 2;
      const int row =
          first_row + i / 2 * product_rows + threadIdx.x % warpgroup_threads / 32 * 16 + lane / 4 + 8 * half;
      const unsigned char* column = tile + row / row_elements * TileA::box_bytes;
      const int offset = row % row_elements * static_cast<int>(sizeof(Element));
      // Terms 0, 5, 2 and 7 are swizzled to different banks, and so are 4, 1, 6 and 3.
      const unsigned char* first = column + swizzled((term + 4 * odd) * row_bytes + offset, row_bytes);
      const unsigned char* second = column + swizzled((term + 4 * !odd) * row_bytes + offset, row_bytes);
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const unsigned x = *reinterpret_cast<const unsigned*>(first + step * group_bytes);
        const unsigned y = *reinterpret_cast<const unsigned*>(second + step * group_bytes);
        a[i / 2][step][half] = odd ? y : x;
        a[i / 2][step][2 + half] = odd ? x : y;
      }
    }
  }
};

// Multiplies a stage when it is there, while products of the one before are under way, and releases that one.
template <bool first>
__device__ __forceinline__ void multiply_fragments(Accumulators& sums, Fragments& fragments,
                                                   const Consumer& own, Stages& stages, Turn& turn) {
  const unsigned char* tiles = Stages::tiles(turn.stage());
  stages.full[turn.stage()].wait(turn.parity());
  fragments.load(tiles, own.row);
  const unsigned long long b = TileB::descriptor(tiles + TileA::bytes);
  wgmma_fence(sums.d);
#pragma unroll
  for (int step = 0; step < Fragments::steps; ++step) {
#pragma unroll
    for (int i = 0; i < products_m; ++i)
      wgmma(sums.d[i], fragments.a[i][step], advanced(b, TileB::offset(0, step)), !first || step > 0);
  }
  wgmma_commit();
  if constexpr (!first) {
    wgmma_wait<1>();
    __syncwarp();  // all lanes have loaded
    stages.release(turn.previous());
  }
  turn.advance();
}
