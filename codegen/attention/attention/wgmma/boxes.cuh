#pragma once
#include "attention/attention/wgmma/warpgroups.cuh"
#include "cuda/numbers.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/wgmma.cuh"
// Rows of heads in shared memory, as wgmma multiplies them: boxes of rows of 128 bytes, which are swizzled,
// side by side along the elements of a head. Tensor copies fill them. What is outside of a head, or behind
// the last row, is zeros.

using Element = Problem::Element;

constexpr int row_bytes = 128;
constexpr int group_bytes = 8 * row_bytes;  // rows that one swizzle permutes
constexpr int row_elements = row_bytes / sizeof(Element);
constexpr int product_k = 16;
constexpr int product_bytes = product_k * sizeof(Element);

// The rows of a sequence in a tensor map: their first two coordinates.
struct MappedRows {
  int batch;
  int first;
};

// Of packed sequences, both coordinates count rows. Their sum is the row's number, and that of all rows,
// which the map begins ahead of the first one. The second coordinate of a sequence's last row is the map's
// last one, so that what is behind it is zeros, and not the next sequence.
__device__ __forceinline__ MappedRows mapped_rows(int batch, int first, int count, int all) {
#if segmented
  return {first + count, all - count};
#else
  return {batch, 0};
#endif
}

// Begins to copy boxes side by side, from a row of a head of a sequence on.
template <int boxes, int box_bytes>
__device__ __forceinline__ void copy_boxes(unsigned char* target, const TensorMap& map, MappedRows rows,
                                           int row, int head, Barrier& full) {
#pragma unroll
  for (int box = 0; box < boxes; ++box) {
    const int at[] = {rows.batch, rows.first + row, head, box * row_elements};
    tensor_copy(target + box * box_bytes, map, at, full);
  }
}

// A stage, and the parity of the phase in which it is filled.
template <int stages>
class Turn {
 public:
  __device__ __forceinline__ int stage() const { return stage_; }
  __device__ __forceinline__ unsigned parity() const { return parity_; }
  __device__ __forceinline__ void advance() {
    if (++stage_ == stages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  int stage_ = 0;
  unsigned parity_ = 0;
};
