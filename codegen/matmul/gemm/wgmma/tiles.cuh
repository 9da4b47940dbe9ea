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
constexpr int group_bytes = 8 * row_bytes;
constexpr int row_elements = row_bytes / sizeof(Element);
constexpr int product_bytes = 32;  // bytes of a product along k
constexpr int product_k = product_bytes / sizeof(Element);
constexpr int product_rows = 64;  // rows of A

// Where a box begins in a tensor map, whose first axis counts matrices if there are several.
struct MapPlace {
  static constexpr int axes = Problem::batched ? 3 : 2;
  int at[axes];

  __device__ __forceinline__ MapPlace(int batch, int row, int column) {
    at[0] = batch, at[axes - 2] = row, at[axes - 1] = column;
  }
};

// The tile of an operand, `extent` elements of it across k, of which each of `sharers` blocks of the cluster
// copies a part to all of them. `halves`: the second half, across k, is elsewhere in the matrix than behind
// the first; then no blocks share a tile.
template <int extent, bool along_k, int sharers, bool shared_by_batch, bool halves = false>
struct OperandTile {
  static constexpr int width = (along_k ? Schedule::block_k : extent) * static_cast<int>(sizeof(Element));
#if narrow_boxes
  // The widest of which the tile's columns are a multiple.
  static constexpr int row_bytes = along_k || width % 128 == 0 ? 128 : width % 64 == 0 ? 64 : 32;
#else
  static constexpr int row_bytes = Problem::narrow_rows && width < 128 ? width : 128;
#endif
  static constexpr int group_bytes = 8 * row_bytes;  // rows that one swizzle permutes
  static constexpr int row_elements = row_bytes / sizeof(Element);
  static constexpr int rows = along_k ? extent : Schedule::block_k;
  static constexpr int pieces = halves && along_k ? 2 : 1;  // boxes of the same columns
  static constexpr int box_rows = rows / sharers / pieces;
  static constexpr int boxes = (along_k ? Schedule::block_k : extent) / row_elements;
  static constexpr int box_bytes = rows * row_bytes;
  static constexpr int bytes = boxes * box_bytes;

  // Begins to copy this block's part: rows from share · box_rows on.
  static __device__ __forceinline__ void copy(unsigned char* tile, const TensorMap& map, int batch,
                                              int across, int k, int share, unsigned short mask,
                                              Barrier& full, int second = 0) {
    const int first_row = (along_k ? across : k) + share * box_rows, first_column = along_k ? k : across;
    unsigned char* target = tile + share * (box_rows * row_bytes);
#pragma unroll
    for (int box = 0; box < boxes * pieces; ++box) {
      const int piece = box % pieces, behind = halves && !along_k ? box / (boxes / 2) : 0;
      const int row = first_row + piece * second;
      const int column = first_column + behind * second + (box / pieces - behind * boxes / 2) * row_elements;
      const MapPlace from(shared_by_batch ? 0 : batch, row, column);
      unsigned char* place = target + box / pieces * box_bytes + piece * (box_rows * row_bytes);
      if constexpr (sharers == 1) {
        tensor_copy(place, map, from.at, full);
      } else {
        tensor_copy_to_ranks(place, map, from.at, full, mask);
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
#if gate == halves
using TileB = OperandTile<Schedule::block_n, Problem::transpose_b, 1, Problem::shared_b, true>;
#else
// With partial boxes, nothing multiplies the last columns of the last one.
constexpr int box_columns = !Problem::narrow_rows    ? row_elements
                            : Schedule::block_n > 32 ? 64
                            : Schedule::block_n > 16 ? 32
                                                     : 16;
constexpr int boxes_of_b = (Schedule::block_n - 1) / box_columns + 1;
constexpr int loaded_columns = Problem::partial_boxes ? boxes_of_b * box_columns : Schedule::block_n;
using TileB = OperandTile<loaded_columns, Problem::transpose_b, Schedule::cluster_m, Problem::shared_b>;
#endif
constexpr int stage_bytes = TileA::bytes + TileB::bytes;
