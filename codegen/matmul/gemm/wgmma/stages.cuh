#pragma once
#include "cuda/cluster.cuh"
#include "matmul/gemm/wgmma/epilogue.cuh"
// Stages of shared memory that the producer fills and the consumers empty in turn. A stage has two barriers:
// one completes when its tiles are there, the other when all consumers of the cluster have read them, for
// copies go to several blocks.

constexpr int warpgroup_warps = 4;
// Warps that share a tile.
constexpr int consumer_warps = Schedule::pingpong ? warpgroup_warps : Schedule::consumers * warpgroup_warps;

struct Stages {
  Barrier full[Schedule::stages];
  Barrier empty[Schedule::stages];
#if pingpong
  Barrier next[Schedule::consumers];  // of each consumer: those before it have waited for all of their stages
#endif
#if residual_ring
  Barrier ring_full[ring_boxes];  // see wgmma/residual_ring.cuh
  Barrier ring_empty[ring_boxes];
  Barrier
      ring_next[Schedule::consumers];  // of each consumer: those before it have waited for all of their boxes
#endif
  int is_last;  // see wgmma/shared_tiles.cuh

  static __device__ __forceinline__ unsigned char* tiles(int stage) {
    return tile_memory<unsigned char>() + stage * stage_bytes;
  }
  static __device__ __forceinline__ Stages& barriers() {
    return *reinterpret_cast<Stages*>(tiles(Schedule::stages) + staged_bytes);
  }

  // By one thread.
  __device__ __forceinline__ void init() {
    for (int stage = 0; stage < Schedule::stages; ++stage) {
      full[stage].init(1);
      empty[stage].init(consumer_warps * cluster_blocks);
    }
#if pingpong
    for (int consumer = 0; consumer < Schedule::consumers; ++consumer) next[consumer].init(warpgroup_warps);
#endif
#if residual_ring
    for (int box = 0; box < ring_boxes; ++box) {
      ring_full[box].init(1);
      ring_empty[box].init(1);
    }
    for (int consumer = 0; consumer < Schedule::consumers; ++consumer) ring_next[consumer].init(1);
#endif
    barriers_fence();
    proxy_fence();
  }

  // By each warp of the consumers: this block, and those that copy to it, may overwrite the stage.
  __device__ __forceinline__ void release(int stage) {
    const int lane = threadIdx.x % 32;
    if constexpr (cluster_blocks > 1) {
      if (lane < cluster_blocks) arrive_at_rank(empty[stage], lane);
    } else {
      if (lane == 0) empty[stage].arrive();
    }
  }
};

// A stage, and the parity of the phase in which it is filled.
//
// A phase can only be waited for when those before the last one are known to be complete, for their parities
// are the same: so consumers of different tiles wait for each other.
class Turn {
 public:
  __device__ __forceinline__ int stage() const { return stage_; }
  __device__ __forceinline__ unsigned parity() const { return parity_; }
  __device__ __forceinline__ int previous() const { return (stage_ == 0 ? Schedule::stages : stage_) - 1; }
  __device__ __forceinline__ void advance() {
    if (++stage_ == Schedule::stages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }
  __device__ __forceinline__ void skip(int steps) {
    const unsigned stage = stage_ + steps;
    stage_ = stage % Schedule::stages;
    parity_ ^= stage / Schedule::stages & 1;
  }

 private:
  int stage_ = 0;
  unsigned parity_ = 0;
};
