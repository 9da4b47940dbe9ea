#pragma once
#include "cuda/opaque.cuh"
#include "cuda/shared_memory.cuh"
#include "sgemm/multiply.cuh"
#include "sgemm/tile_copy.cuh"
// The loop over k: `stages` tiles of each operand stand in shared memory; while one is multiplied, later ones
// arrive.

class MainLoop {
  static constexpr int stages = Schedule::stages;
  static constexpr int steps = Schedule::block_k / Schedule::warps_k;  // along k, of a tile, for a thread
  static constexpr bool double_buffer = Schedule::double_buffer_fragments;
  // Without registers in between, copies go on to the end, from the last tile again when there is no other: a
  // loop without branches, in which the compiler places them among the FFMAs (3 % at 4096³ on an H200). Loads
  // to registers it would move down to where they are waited for; in a branch of their own they stay first (5
  // % there).
  static constexpr bool branchless = OperandA::asynchronous && OperandB::asynchronous;

 public:
  __device__ __forceinline__ MainLoop(const TileCopy<OperandA>& copy_a, const TileCopy<OperandB>& copy_b,
                                      Position thread)
      : copy_a_(copy_a),
        copy_b_(copy_b),
        word_a_(LayoutA::index(k_part() * steps, 0) + thread.m),
        word_b_(LayoutB::index(k_part() * steps, 0) + thread.n) {
    // Else NVRTC 13.0 turns sums into ORs where bits do not overlap, and computes every address of the loop.
    make_opaque(word_a_);
    make_opaque(word_b_);
  }

  // Adds the products of `tiles` tiles along k to `sum`.
  __device__ __forceinline__ void run(Accumulators& sum, int tiles) {
    if (tiles <= 0) return;
    if constexpr (stages == 1) {
      run_single_buffered(sum, tiles);
    } else {
      run_pipelined(sum, tiles);
    }
  }

 private:
  __device__ __forceinline__ void run_single_buffered(Accumulators& sum, int tiles) {
    for (int tile = 0; tile < tiles; ++tile) {
      begin(0);
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

  __device__ __forceinline__ void run_pipelined(Accumulators& sum, int tiles) {
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) {
      begin(stage);
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
        if (k < Schedule::copy_steps && more) begin(write, k, Schedule::copy_steps);
        if (k + 1 == Schedule::copy_steps && more) advance(!branchless || tile + stages < tiles);
        if constexpr (double_buffer) {
          if (k + 1 == steps) next_tile(more, write);
          load(fragments_[(k + 1) % 2], (k + 1) % steps);  // after the last tile: never used
        } else {
          load(fragments_[0], k);
        }
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
  static __device__ __forceinline__ int tile_a(int stage) { return stage * LayoutA::words; }
  static __device__ __forceinline__ int tile_b(int stage) {
    return stages * LayoutA::words + stage * LayoutB::words;
  }

  __device__ __forceinline__ void begin(int stage, int step = 0, int steps = 1) {
    copy_a_.begin(tile_a(stage), step, steps);
    copy_b_.begin(tile_b(stage), step, steps);
  }
  __device__ __forceinline__ void finish(int stage) {
    copy_a_.finish(tile_a(stage));
    copy_b_.finish(tile_b(stage));
  }
  // Turns the copies to the next tile, if there is one.
  __device__ __forceinline__ void advance(bool more) {
    copy_a_.advance(more);
    copy_b_.advance(more);
  }
  __device__ __forceinline__ void load(Fragments& fragments, int k) const {
    const float* shared = dynamic_shared<float>();
    load_fragment<LayoutA, StripsM>(fragments.a, shared + tile_a(read_), k, word_a_);
    load_fragment<LayoutB, StripsN>(fragments.b, shared + tile_b(read_), k, word_b_);
  }

  TileCopy<OperandA> copy_a_;
  TileCopy<OperandB> copy_b_;
  int word_a_;  // of a tile, the first that this thread multiplies
  int word_b_;
  int read_ = 0;
  Fragments fragments_[double_buffer ? 2 : 1];
};
