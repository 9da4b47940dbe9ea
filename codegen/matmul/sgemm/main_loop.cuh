#pragma once
#include "matmul/sgemm/direct.cuh"
#include "matmul/sgemm/multiply.cuh"
#include "matmul/sgemm/supply.cuh"
// The loop over k: `stages` tiles of each operand stand in shared memory; while one is multiplied, later ones
// arrive.

class MainLoop {
  static constexpr int stages = Schedule::stages;
  static constexpr int steps = k_steps;
  static constexpr bool double_buffer = Schedule::double_buffer_fragments;
  // Without registers in between, copies go on to the end, from the last tile again when there is no other: a
  // loop without branches, in which the compiler places them among the FFMAs (3 % at 4096³ on an H200). Loads
  // to registers it would move down to where they are waited for; in a branch of their own they stay first (5
  // % there).
  static constexpr bool branchless = OperandA::asynchronous && OperandB::asynchronous;

 public:
  __device__ __forceinline__ MainLoop(const Supply<OperandA>& a, const Supply<OperandB>& b) : a_(a), b_(b) {}

  // Adds the products of `tiles` tiles along k to `sum`. The second is `jump` tiles from the first, each
  // other follows the one before.
  __device__ __forceinline__ void run(Accumulators& sum, int tiles, int jump) {
    if (tiles <= 0) return;
    if constexpr (stages == 1) {
      run_single_buffered(sum, tiles);
    } else {
      run_pipelined(sum, tiles, jump);
    }
  }

 private:
  __device__ __forceinline__ void run_single_buffered(Accumulators& sum, int tiles) {
    for (int tile = 0; tile < tiles; ++tile) {
      begin<guard_k_in_loop>(0);
      advance(true);
      finish(0);
      async_commit();
      async_wait<0>();
      __syncthreads();
#pragma unroll
      for (int k = 0; k < steps; ++k) {
        load(fragments_[0], k);
        multiply_add(sum, fragments_[0]);
      }
      __syncthreads();
    }
  }

  __device__ __forceinline__ void run_pipelined(Accumulators& sum, int tiles, int jump) {
    a_.begin_first();
    b_.begin_first();
    if constexpr (Problem::rest_first) {
      begin<true>(0);
      a_.jump(jump);
      b_.jump(jump);
      finish(0);
      async_commit();
    }
#pragma unroll
    for (int stage = Problem::rest_first; stage < stages - 1; ++stage) {
      begin<guard_k_in_loop>(stage);
      advance(stage + 1 < tiles);
      finish(stage);
      async_commit();
    }
    async_wait<stages - 2>();
    __syncthreads();
    if constexpr (double_buffer) load(fragments_[0], 0);

    int write = stages - 1;
    for (int tile = 0; tile < tiles; ++tile) {
      const bool more = branchless || tile + stages - 1 < tiles;
#pragma unroll
      for (int k = 0; k < steps; ++k) {
        if (k < Schedule::copy_steps && more) begin<guard_k_in_loop>(write, k, Schedule::copy_steps);
        if (k + 1 == Schedule::copy_steps && more) advance(!branchless || tile + stages < tiles);
        if constexpr (double_buffer) {
          if (k + 1 == steps) next_tile(more, write);
          load(fragments_[(k + 1) % 2], (k + 1) % steps);  // after the last tile: never used
        } else {
          load(fragments_[0], k);
        }
        if (tile + 1 < tiles) begin_next(k);
        multiply_add(sum, fragments_[double_buffer ? k % 2 : 0]);
      }
      if constexpr (!double_buffer) next_tile(more, write);
    }
    async_wait<0>();
  }

  // Turns to the next tile; the one that was read is free for the copies that follow the barrier.
  __device__ __forceinline__ void next_tile(bool more, int& write) {
    if (more) finish(write);
    async_commit();
    write = next(write);
    read_ = next(read_);
    async_wait<stages - 2>();
    __syncthreads();
  }

  static __device__ __forceinline__ int next(int stage) { return stage + 1 == stages ? 0 : stage + 1; }

  // The first word of a tile in shared memory.
  static __device__ __forceinline__ int tile_a(int stage) { return stage * OperandA::shared_words; }
  static __device__ __forceinline__ int tile_b(int stage) {
    return stages * OperandA::shared_words + stage * OperandB::shared_words;
  }

  template <bool guard_k>
  __device__ __forceinline__ void begin(int stage, int step = 0, int steps = 1) {
    a_.template begin<guard_k>(tile_a(stage), step, steps);
    b_.template begin<guard_k>(tile_b(stage), step, steps);
  }
  __device__ __forceinline__ void finish(int stage) {
    a_.finish(tile_a(stage));
    b_.finish(tile_b(stage));
  }
  // Turns the copies to the next tile, if there is one.
  __device__ __forceinline__ void advance(bool more) {
    a_.advance(more);
    b_.advance(more);
  }
  // The words of the next tile that go to registers, in place of those that are in fragments by now.
  __device__ __forceinline__ void begin_next(int step) {
    if (double_buffer && step == 0) begin_next_words(0);
    if (step + double_buffer < steps) begin_next_words(step + double_buffer);
  }
  __device__ __forceinline__ void begin_next_words(int step) {
    a_.begin_next(step);
    b_.begin_next(step);
  }
  __device__ __forceinline__ void load(Fragments& fragments, int step) const {
    a_.get(fragments.a, tile_a(read_), step);
    b_.get(fragments.b, tile_b(read_), step);
  }

  Supply<OperandA> a_;
  Supply<OperandB> b_;
  int read_ = 0;
  Fragments fragments_[double_buffer ? 2 : 1];
};
