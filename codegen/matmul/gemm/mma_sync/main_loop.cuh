#pragma once
#if element == float32
#  include "matmul/gemm/mma_sync/tf32_products.cuh"
#elif element == int8
#  include "matmul/gemm/mma_sync/int8_products.cuh"
#elif element_bytes == 1
#  include "matmul/gemm/mma_sync/float8_products.cuh"
#else
#  include "cuda/products.cuh"
#endif
#include "matmul/gemm/mma_sync/tile_copy.cuh"
// The products of a block's tile of D: `stages` tiles of A and B are in shared memory or on their way there.

constexpr int products_m = Schedule::warp_m / 16;  // those of a warp
constexpr int products_n = Schedule::warp_n / 8;
constexpr int k_steps = Schedule::block_k / product_k;

// The sums of a lane: of each product, those that tensor_core.cuh says.
struct Accumulators {
  Problem::Sum d[products_m][products_n][4];
};

// What a lane has of the rows of A and the columns of B of its warp.
struct Fragments {
  unsigned a[products_m][4];
  unsigned b[products_n / 2][4];

  __device__ __forceinline__ void load(const unsigned char* stage, int step) {
    const int warp = threadIdx.x / 32;
    const int m = warp / warps_n * Schedule::warp_m, n = warp % warps_n * Schedule::warp_n;
#pragma unroll
    for (int i = 0; i < products_m; ++i) TileA::template load<false>(a[i], stage, m + 16 * i, step);
#pragma unroll
    for (int j = 0; j < products_n / 2; ++j) {
#if gate == halves
      // A warp's gates, and then the factors of the same columns.
      const int column =
          n / 2 + 16 * j + (j < products_n / 4 ? 0 : (Schedule::block_n - Schedule::warp_n) / 2);
#else
      const int column = n + 16 * j;
#endif
      TileB::template load<true>(b[j], stage + TileA::bytes, column, step);
    }
#if element == float32
    round_all(a);
    round_all(b);
#endif
  }

  __device__ __forceinline__ void multiply(Accumulators& sums) const {
#pragma unroll
    for (int i = 0; i < products_m; ++i) {
#pragma unroll
      for (int j = 0; j < products_n; ++j) {
        const unsigned columns[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
#if element_bytes == 1
        add_narrow_product<Element, ElementB>(sums.d[i][j], a[i], columns);
#else
        add_product_anywhere<Element>(sums.d[i][j], a[i], columns);
#endif
      }
    }
  }
};

// A place among the stages, which are taken in turn.
class Stage {
 public:
  explicit __device__ __forceinline__ Stage(int index) : index_(index) {}
  __device__ __forceinline__ unsigned char* tiles() const {
    return dynamic_shared<unsigned char>() + index_ * stage_bytes;
  }
  __device__ __forceinline__ void advance() { index_ = index_ + 1 == Schedule::stages ? 0 : index_ + 1; }

 private:
  int index_;
};

// Sets `sums` to the products of so many tiles along k, the first of which is tile `first`. `promotion` has
// what becomes of the sums of tensor cores.
template <class Promotion>
__device__ __forceinline__ void multiply_tiles(Accumulators& sums, CopyA copy_a, CopyB copy_b, int tiles,
                                               int first, const Promotion& promotion) {
  sums = {};
  Accumulators partial = {};  // since the last promotion
  Accumulators& products = Schedule::promote > 0 ? partial : sums;
  const auto begin = [&](unsigned char* stage) {
    copy_a.begin(stage);
    copy_b.begin(stage + TileA::bytes);
  };
  const auto finish = [&](unsigned char* stage) {
    copy_a.finish(stage);
    copy_b.finish(stage + TileA::bytes);
  };
  for (int tile = 0; tile < Schedule::stages - 1; ++tile) {
    if (tile < tiles) {
      begin(Stage(tile).tiles());
      finish(Stage(tile).tiles());
    }
    async_commit();
  }
  Stage reading(0), writing(Schedule::stages - 1);
  Fragments fragments[Schedule::double_buffer_fragments ? 2 : 1];
  if constexpr (Schedule::double_buffer_fragments) {
    async_wait<Schedule::stages - 2>();
    __syncthreads();
    if (tiles > 0) fragments[0].load(reading.tiles(), 0);
  }
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    // The stage that is written has been read by all: its tile was multiplied before the last barrier.
    const bool more = tile + Schedule::stages - 1 < tiles;
    if constexpr (Schedule::double_buffer_fragments) {
#pragma unroll
      for (int step = 0; step < k_steps; ++step) {
        if (step == 0) {
          if (more) begin(writing.tiles());
          async_commit();
        }
        if (step == k_steps - 1) {
          if (more) finish(writing.tiles());
          writing.advance();
          reading.advance();
          async_wait<Schedule::stages - 2>();
          __syncthreads();
        }
        // Behind the last tile, these are not used.
        fragments[(step + 1) % 2].load(reading.tiles(), (step + 1) % k_steps);
        fragments[step % 2].multiply(products);
      }
    } else {
      async_wait<Schedule::stages - 2>();
      __syncthreads();
      if (more) begin(writing.tiles());
      async_commit();
#pragma unroll
      for (int step = 0; step < k_steps; ++step) {
        fragments[0].load(reading.tiles(), step);
        fragments[0].multiply(products);
      }
      if (more) finish(writing.tiles());
      writing.advance();
      reading.advance();
    }
    if constexpr (Schedule::promote > 0) {
      constexpr int promoted_tiles = Schedule::promote / Schedule::block_k;
      if ((first + tile + 1) % promoted_tiles == 0 || tile + 1 == tiles)
        promotion.add(sums, partial, first + tile);
    }
  }
  __syncthreads();  // before what comes next uses shared memory
}
