#pragma once
#include "attention/attention/tile_order.cuh"
#include "cuda/numbers.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/wgmma.cuh"
// Shared memory of a block: queries, and stages of keys and of values, which are filled and emptied in turn.
// Each is one or several boxes of rows of 128 bytes, which are swizzled, side by side along the elements of a
// head. What is outside of a head, or behind the last query or key, is zeros.

using Element = Problem::Element;

constexpr int warpgroup_threads = 128;
constexpr int warpgroup_warps = 4;
constexpr int consumer_rows = 64;
constexpr int block_rows = Schedule::consumers * consumer_rows;
constexpr int row_bytes = 128;
constexpr int group_bytes = 8 * row_bytes;  // rows that one swizzle permutes
constexpr int row_elements = row_bytes / sizeof(Element);
constexpr int product_k = 16;
constexpr int product_bytes = product_k * sizeof(Element);
constexpr int key_boxes = (Problem::head_dim + row_elements - 1) / row_elements;
constexpr int value_boxes = (Problem::value_dim + row_elements - 1) / row_elements;
constexpr int key_steps = (Problem::head_dim + product_k - 1) / product_k;
constexpr int value_steps = Schedule::tile_keys / product_k;
constexpr int key_products = Schedule::tile_keys / 8;         // of 8 keys each
constexpr int value_products = (Problem::value_dim + 7) / 8;  // of 8 columns each
constexpr int query_box_bytes = block_rows * row_bytes;
constexpr int key_box_bytes = Schedule::tile_keys * row_bytes;  // also of values
constexpr int query_bytes = key_boxes * query_box_bytes;
constexpr int key_bytes = key_boxes * key_box_bytes;
constexpr int value_bytes = value_boxes * key_box_bytes;

struct Stages {
  Barrier queries_full;
  Barrier queries_empty;
  Barrier keys_full[Schedule::stages];
  Barrier keys_empty[Schedule::stages];
  Barrier values_full[Schedule::stages];
  Barrier values_empty[Schedule::stages];
#if grid_blocks > 0
  int tile;  // whose queries are there; less than 0 behind the last one
#endif

  static __device__ __forceinline__ unsigned char* queries() { return tile_memory<unsigned char>(); }
  static __device__ __forceinline__ unsigned char* keys(int stage) {
    return queries() + query_bytes + stage * key_bytes;
  }
  static __device__ __forceinline__ unsigned char* values(int stage) {
    return keys(Schedule::stages) + stage * value_bytes;
  }
  static __device__ __forceinline__ Stages& barriers() {
    return *reinterpret_cast<Stages*>(values(Schedule::stages));
  }

  // By one thread.
  __device__ __forceinline__ void init() {
    constexpr int warps = Schedule::consumers * warpgroup_warps;
    queries_full.init(1);
    queries_empty.init(warps);
    for (int stage = 0; stage < Schedule::stages; ++stage) {
      keys_full[stage].init(1);
      values_full[stage].init(1);
      keys_empty[stage].init(warps);
      values_empty[stage].init(warps);
    }
    proxy_fence();
  }
};

// A stage, and the parity of the phase in which it is filled.
class Turn {
 public:
  __device__ __forceinline__ int stage() const { return stage_; }
  __device__ __forceinline__ unsigned parity() const { return parity_; }
  __device__ __forceinline__ void advance() {
    if (++stage_ == Schedule::stages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  int stage_ = 0;
  unsigned parity_ = 0;
};

__device__ __forceinline__ Tile tile_at(const Problem& problem, int index) {
  const int of_head = (problem.queries + block_rows - 1) / block_rows;
  return tile_at<block_rows, Schedule::heads_together>(problem, index, of_head, problem.all_heads);
}
