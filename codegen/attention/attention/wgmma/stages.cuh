#pragma once
#include "attention/attention/wgmma/block_tiles.cuh"
#include "attention/attention/wgmma/boxes.cuh"
// Shared memory of a block: queries, and stages of keys and of values, which are filled and emptied in turn.
// Each is one or several boxes.

constexpr int key_boxes = (Problem::head_dim + row_elements - 1) / row_elements;
constexpr int value_boxes = (Problem::value_dim + row_elements - 1) / row_elements;
constexpr int key_steps = (Problem::head_dim + product_k - 1) / product_k;
constexpr int value_steps = Schedule::tile_keys / product_k;
constexpr int key_products = Schedule::tile_keys / 8;                           // of 8 keys each
constexpr int value_products = (Problem::value_dim + 7) / 8;                    // of 8 columns each
constexpr int query_parts = Schedule::queries_apart ? Schedule::consumers : 1;  // of the block's queries
constexpr int part_rows = block_rows / query_parts;
constexpr int query_box_bytes = part_rows * row_bytes;
constexpr int key_box_bytes = Schedule::tile_keys * row_bytes;  // also of values
constexpr int query_bytes = key_boxes * query_box_bytes;        // of a part
constexpr int key_bytes = key_boxes * key_box_bytes;
constexpr int value_bytes = value_boxes * key_box_bytes;

struct Stages {
  Barrier queries_full[query_parts];
  Barrier queries_empty[query_parts];
  Barrier keys_full[Schedule::stages];
  Barrier keys_empty[Schedule::stages];
  Barrier values_full[Schedule::stages];
  Barrier values_empty[Schedule::stages];
#if grid_blocks > 0
  Tile tile[query_parts];  // whose queries are there; the query is less than 0 behind the last one
#  if segmented
  Barrier found_full;
  Barrier found_empty;
  Tile found;  // that the block takes next; likewise
#  endif
#endif

  static __device__ __forceinline__ unsigned char* queries(int part) {
    return tile_memory<unsigned char>() + part * query_bytes;
  }
  static __device__ __forceinline__ unsigned char* queries_of(int consumer) {
    return Schedule::queries_apart ? queries(consumer) : queries(0) + consumer * consumer_rows * row_bytes;
  }
  static __device__ __forceinline__ unsigned char* keys(int stage) {
    return queries(query_parts) + stage * key_bytes;
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
    for (int part = 0; part < query_parts; ++part) {
      queries_full[part].init(1);
      queries_empty[part].init(warps / query_parts);
    }
    for (int stage = 0; stage < Schedule::stages; ++stage) {
      keys_full[stage].init(1);
      values_full[stage].init(1);
      keys_empty[stage].init(warps);
      values_empty[stage].init(warps);
    }
#if segmented && grid_blocks > 0
    found_full.init(1);
    found_empty.init(1);
#endif
    proxy_fence();
  }
};
