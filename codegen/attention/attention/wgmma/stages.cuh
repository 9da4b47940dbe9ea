#pragma once
#include "attention/attention/wgmma/block_tiles.cuh"
#include "attention/attention/wgmma/boxes.cuh"
// Shared memory of a block: queries, and stages of keys and of values, which are filled and emptied in turn.
// Each is one or several boxes.

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
#if grid_blocks > 0 && segmented
  Tile tile;  // whose queries are there: found once; its query is less than 0 behind the last one
#elif grid_blocks > 0
  int tile;  // its number; less than 0 behind the last one
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
