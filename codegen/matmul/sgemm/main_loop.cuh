#pragma once
#include "matmul/sgemm/direct_loader.cuh"
#include "matmul/sgemm/multiply.cuh"
#include "matmul/sgemm/tile_loader.cuh"
#include "matmul/sgemm/tile_scheduler.cuh"

#if !gathered_a  // else who includes this has defined it
#  if copy_a == direct
using LoaderA = DirectLoader<OperandA>;
#  elif copy_a == async_copy
using LoaderA = TileLoader<OperandA, AsyncCopy<OperandA> >;
#  else
using LoaderA = TileLoader<OperandA, RegisterCopy<OperandA> >;
#  endif
#endif

#if !gathered_b  // likewise
#  if copy_b == direct
using LoaderB = DirectLoader<OperandB>;
#  elif copy_b == async_copy
using LoaderB = TileLoader<OperandB, AsyncCopy<OperandB> >;
#  else
using LoaderB = TileLoader<OperandB, RegisterCopy<OperandB> >;
#  endif
#endif

#if stages == 1
// The loop over k: copies a tile of each operand to shared memory, waits, and multiplies it.
#else
// The loop over k: shared memory holds `stages` tiles of each operand. While one is multiplied, later ones
// arrive.
#endif
class MainLoop {
#if stages > 1
  static constexpr int stages = Schedule::stages;
#  if copy_a == async_copy && copy_b == async_copy
  // Asynchronous copies go on to the end, and copy the last tile again when there is no other. A loop without
  // branches lets the compiler place them among the FFMAs (3 % at 4096³ on an H200).
  static constexpr bool branchless = true;
#  else
  // The compiler would move loads to registers down to where they are waited for. In a branch of their own
  // they stay first (5 % at 4096³ on an H200).
  static constexpr bool branchless = false;
#  endif
#endif

 public:
  __device__ __forceinline__ MainLoop(const LoaderA& a, const LoaderB& b) : a_(a), b_(b) {}

#if stages == 1
  // Adds the products of the tiles along k to `sum`.
  __device__ __forceinline__ void run(Accumulators& sum, int tiles) {
    for (int tile = 0; tile < tiles; ++tile) {
      begin<guard_k_in_loop>(0);
      advance(true);
#  if copy_a != async_copy || copy_b != async_copy
      finish(0);
#  endif
#  if copy_a == async_copy || copy_b == async_copy
      async_commit();
      async_wait<0>();
#  endif
      __syncthreads();
#  pragma unroll
      for (int k = 0; k < k_steps; ++k) {
        load(fragments_, k);
        multiply_add(sum, fragments_);
      }
      __syncthreads();
    }
  }
#else
  // Adds the products of the tiles along k to `sum`.
#  if residue_first
  // The second tile is `jump` tiles from the first, each other follows the one before.
  __device__ __forceinline__ void run(Accumulators& sum, int tiles, int jump) {
#  else
  __device__ __forceinline__ void run(Accumulators& sum, int tiles) {
#  endif
    if (tiles <= 0) return;
#  if copy_a == direct || copy_b == direct
    a_.begin_first();
    b_.begin_first();
#  endif
#  if residue_first
    begin<true>(0);
    a_.jump(jump);
    b_.jump(jump);
#    if copy_a != async_copy || copy_b != async_copy
    finish(0);
#    endif
#    if copy_a == async_copy || copy_b == async_copy
    async_commit();
#    endif
#  endif
#  pragma unroll
    for (int stage = Problem::residue_first; stage < stages - 1; ++stage) {
      begin<guard_k_in_loop>(stage);
      advance(stage + 1 < tiles);
#  if copy_a != async_copy || copy_b != async_copy
      finish(stage);
#  endif
#  if copy_a == async_copy || copy_b == async_copy
      async_commit();
#  endif
    }
#  if copy_a == async_copy || copy_b == async_copy
    async_wait<stages - 2>();
#  endif
    __syncthreads();
#  if double_buffer_fragments
    load(fragments_[0], 0);
#  endif

    int write = stages - 1;
    for (int tile = 0; tile < tiles; ++tile) {
      const bool more = branchless || tile + stages - 1 < tiles;
#  pragma unroll
      for (int k = 0; k < k_steps; ++k) {
        if (k < Schedule::copy_steps && more) begin<guard_k_in_loop>(write, k, Schedule::copy_steps);
        if (k + 1 == Schedule::copy_steps && more) advance(!branchless || tile + stages < tiles);
#  if double_buffer_fragments
        if (k + 1 == k_steps) next_tile(more, write);
        load(fragments_[(k + 1) % 2], (k + 1) % k_steps);  // after the last tile: never used
#  else
        load(fragments_, k);
#  endif
#  if copy_a == direct || copy_b == direct
        if (tile + 1 < tiles) begin_next(k);
#  endif
#  if double_buffer_fragments
        multiply_add(sum, fragments_[k % 2]);
#  else
        multiply_add(sum, fragments_);
#  endif
      }
#  if !double_buffer_fragments
      next_tile(more, write);
#  endif
    }
#  if copy_a == async_copy || copy_b == async_copy
    async_wait<0>();
#  endif
  }
#endif

 private:
#if stages > 1
  // Advances to the next tile. The copies that follow the barrier may overwrite the one that was read.
  __device__ __forceinline__ void next_tile(bool more, int& write) {
#  if copy_a != async_copy || copy_b != async_copy
    if (more) finish(write);
#  endif
#  if copy_a == async_copy || copy_b == async_copy
    async_commit();
#  endif
    write = next(write);
    read_ = next(read_);
#  if copy_a == async_copy || copy_b == async_copy
    async_wait<stages - 2>();
#  endif
    __syncthreads();
  }

  static __device__ __forceinline__ int next(int stage) { return stage + 1 == stages ? 0 : stage + 1; }

#endif
  // Offset of a stage's tile in shared memory.
  static __device__ __forceinline__ int tile_a(int stage) { return stage * LoaderA::shared_elements; }
  static __device__ __forceinline__ int tile_b(int stage) {
    return Schedule::stages * LoaderA::shared_elements + stage * LoaderB::shared_elements;
  }

  template <bool guard_k>
  __device__ __forceinline__ void begin(int stage, int step = 0, int steps = 1) {
    a_.template begin<guard_k>(tile_a(stage), step, steps);
    b_.template begin<guard_k>(tile_b(stage), step, steps);
  }
#if copy_a != async_copy || copy_b != async_copy
  __device__ __forceinline__ void finish(int stage) {
    a_.finish(tile_a(stage));
    b_.finish(tile_b(stage));
  }
#endif
  // Advances the copies to the next tile, if there is one.
  __device__ __forceinline__ void advance(bool more) {
    a_.advance(more);
    b_.advance(more);
  }
#if copy_a == direct || copy_b == direct
  // Loads elements of the next tile to registers, in place of those that are in fragments by now.
  __device__ __forceinline__ void begin_next(int step) {
#  if double_buffer_fragments
    if (step == 0) begin_next_step(0);
    if (step + 1 < k_steps) begin_next_step(step + 1);
#  else
    begin_next_step(step);
#  endif
  }
  __device__ __forceinline__ void begin_next_step(int step) {
    a_.begin_next(step);
    b_.begin_next(step);
  }
#endif
  __device__ __forceinline__ void load(Fragments& fragments, int step) const {
    a_.get(fragments.a, tile_a(read_), step);
    b_.get(fragments.b, tile_b(read_), step);
  }

  LoaderA a_;
  LoaderB b_;
  int read_ = 0;  // the stage that is multiplied
#if double_buffer_fragments
  Fragments fragments_[2];
#else
  Fragments fragments_;
#endif
};
