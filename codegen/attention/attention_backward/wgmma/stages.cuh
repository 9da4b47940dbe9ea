#pragma once
#include "attention/attention/wgmma/boxes.cuh"
#include "attention/attention_backward/passes.cuh"
// Shared memory of a block: rows of its own, and stages of other rows, which are filled and emptied in turn.
// Either are those of two matrices, and a matrix is one or several boxes.

constexpr int head_boxes = (Problem::head_dim + row_elements - 1) / row_elements;
constexpr int value_boxes = (Problem::value_dim + row_elements - 1) / row_elements;
constexpr int head_steps = (Problem::head_dim + product_k - 1) / product_k;
constexpr int value_steps = (Problem::value_dim + product_k - 1) / product_k;
constexpr int head_products = (Problem::head_dim + 7) / 8;  // of 8 columns each
constexpr int value_products = (Problem::value_dim + 7) / 8;

// What a kind of pass has of its own.
template <bool of_keys>
struct Tiles {
  static constexpr int consumers = of_keys ? Schedule::consumers : Schedule::query_consumers;
  static constexpr int stages = of_keys ? Schedule::stages : Schedule::query_stages;
  static constexpr int own = consumers * consumer_rows;  // rows
  static constexpr int others = of_keys ? Schedule::tile_queries : Schedule::tile_keys;
  static constexpr int own_box_bytes = own * row_bytes;
  static constexpr int box_bytes = others * row_bytes;
  static constexpr int own_first_bytes = head_boxes * own_box_bytes;
  static constexpr int own_bytes = own_first_bytes + value_boxes * own_box_bytes;
  static constexpr int first_bytes = head_boxes * box_bytes;
  static constexpr int second_bytes = value_boxes * box_bytes;
  static constexpr int gradient_bytes =  // of scores, in a buffer
      of_keys && Schedule::single_pass ? own * others * static_cast<int>(sizeof(Element)) : 0;
  static constexpr int statistics_bytes = of_keys ? others * sizeof(float) : 0;  // of shifts, and of deltas
};

template <bool of_keys>
struct Stages {
  using Sizes = Tiles<of_keys>;

  Barrier own_full;
  Barrier first_full[Sizes::stages];
  Barrier first_empty[Sizes::stages];
  Barrier second_full[Sizes::stages];
  Barrier second_empty[Sizes::stages];

  static __device__ __forceinline__ unsigned char* own_first() { return tile_memory<unsigned char>(); }
  static __device__ __forceinline__ unsigned char* own_second() {
    return own_first() + Sizes::own_first_bytes;
  }
  static __device__ __forceinline__ unsigned char* first(int stage) {
    return own_first() + Sizes::own_bytes + stage * Sizes::first_bytes;
  }
  static __device__ __forceinline__ unsigned char* second(int stage) {
    return first(Sizes::stages) + stage * Sizes::second_bytes;
  }
  static __device__ __forceinline__ unsigned char* gradients(int buffer) {
    return second(Sizes::stages) + buffer * Sizes::gradient_bytes;
  }
  static __device__ __forceinline__ float* shifts(int stage) {
    return reinterpret_cast<float*>(gradients(2) + 2 * stage * Sizes::statistics_bytes);
  }
  static __device__ __forceinline__ Stages& barriers() {
    return *reinterpret_cast<Stages*>(shifts(Sizes::stages));
  }

  // By one thread.
  __device__ __forceinline__ void init() {
    constexpr int warps = Sizes::consumers * warpgroup_warps;
    own_full.init(1);
    for (int stage = 0; stage < Sizes::stages; ++stage) {
      first_full[stage].init(1);
      second_full[stage].init(1);
      first_empty[stage].init(warps);
      second_empty[stage].init(warps);
    }
    proxy_fence();
  }
};

template <bool of_keys>
__device__ __forceinline__ OwnRows own_rows(const Arguments& arguments, const Problem& problem) {
  // Tiles of queries are numbered where dq is added up.
  constexpr int aligned = Schedule::single_pass ? Tiles<of_keys>::others : 8;
  return Pass<of_keys>::template tile<Tiles<of_keys>::own, Schedule::heads_together, aligned>(
      arguments, problem, blockIdx.x);
}
