#pragma once
#if element_bytes == 1 || result_bytes == 1
#  include "cuda/narrow.cuh"
#endif
#include "cuda/numbers.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/wgmma.cuh"
#include "matmul/gemm/tiling.cuh"
// The tiles of A and B in shared memory: how tensor copies bring them there and how products read them. A
// tile is one or several boxes of rows of 128 bytes, which are swizzled and lie as in global memory: side by
// side along k where rows run along k, else side by side along m or n.

using Element = Problem::Element;

constexpr int row_bytes = 128;
constexpr int group_bytes = 8 * row_bytes;  // rows that one swizzle permutes
constexpr int row_elements = row_bytes / sizeof(Element);
constexpr int product_bytes = 32;  // of a product along k
constexpr int product_k = product_bytes / sizeof(Element);
constexpr int product_rows = 64;  // of A

// The tile of an operand, `extent` elements of it across k, of which each of `sharers` blocks of the cluster
// copies a part to all of them.
template <int extent, bool along_k, int sharers, bool shared_by_batch>
struct OperandTile {
  static constexpr int rows = along_k ? extent : Schedule::block_k;
  static constexpr int box_rows = rows / sharers;
  static constexpr int boxes = (along_k ? Schedule::block_k : extent) / row_elements;
  static constexpr int box_bytes = rows * row_bytes;
  static constexpr int bytes = boxes * box_bytes;

  // Begins to copy this block's part: rows from share · box_rows on.
  static __device__ __forceinline__ void copy(unsigned char* tile, const TensorMap& map, int batch,
                                              int across, int k, int share, unsigned short mask,
                                              Barrier& full) {
    const int row = (along_k ? across : k) + share * box_rows, column = along_k ? k : across;
    unsigned char* target = tile + share * (box_rows * row_bytes);
#pragma unroll
    for (int box = 0; box < boxes; ++box) {
#if batched
      const int at[] = {shared_by_batch ? 0 : batch, row, column + box * row_elements};
#else
      const int at[] = {row, column + box * row_elements};
#endif
      if constexpr (sharers == 1) {
        tensor_copy(target + box * box_bytes, map, at, full);
      } else {
        tensor_copy_to_ranks(target + box * box_bytes, map, at, full, mask);
      }
    }
  }

  // What products read from the tile's first row or column on.
  static __device__ __forceinline__ unsigned long long descriptor(const unsigned char* tile) {
    return matrix_descriptor<row_bytes>(tile, along_k ? 0 : box_bytes, group_bytes);
  }

  // Where product number `step` along k begins, of rows or columns from `first` on.
  static constexpr __device__ __forceinline__ int offset(int first, int step) {
    constexpr int steps_of_box = row_bytes / product_bytes;
    if (along_k)
      return step / steps_of_box * box_bytes + first * row_bytes + step % steps_of_box * product_bytes;
    return first / row_elements * box_bytes + step * product_k * row_bytes;
  }
};

using TileA = OperandTile<Schedule::block_m, !Problem::transpose_a, Schedule::cluster_n, Problem::shared_a>;
using TileB = OperandTile<Schedule::block_n, Problem::transpose_b, Schedule::cluster_m, Problem::shared_b>;
constexpr int stage_bytes = TileA::bytes + TileB::bytes;
