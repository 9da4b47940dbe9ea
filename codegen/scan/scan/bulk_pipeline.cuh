#pragma once
#include "cuda/tensor_copy.cuh"
#include "cuda/tile_tickets.cuh"
#include "scan/scan/look_back.cuh"
#include "scan/scan/staged_tile.cuh"
constexpr int scan_warps = Schedule::threads / 32;

// A step is a tile of a block.
__device__ __forceinline__ int stage_of(unsigned step) { return step % Schedule::stages; }
__device__ __forceinline__ unsigned parity_of(unsigned step, int uses) { return step / uses % 2; }

struct Pipeline {
  StagedTile tiles[Schedule::stages];
  Barrier filled[Schedule::stages], scanned[Schedule::stages], emptied[Schedule::stages];
  Barrier summed[2];    // the sums of all warps are there
  Barrier preceded[2];  // they were published, and what precedes the tile is there
  TileTicket tickets[Schedule::stages];
  Carry before[2];
  Carry sums[4][scan_warps];  // a warp may sum three steps ahead of one that still reads them

  __device__ __forceinline__ void init() {
    for (int stage = 0; stage < Schedule::stages; ++stage) {
#if odd_end || segmented
      filled[stage].init(2);  // when copies have been issued, and by those who fill the rest
#else
      filled[stage].init(1);
#endif
      scanned[stage].init(scan_warps);
      emptied[stage].init(1);
    }
    for (int i = 0; i < 2; ++i) {
      summed[i].init(scan_warps);
      preceded[i].init(2);
    }
    proxy_fence();
  }

  // The tile of a step, once it is filled.
  __device__ __forceinline__ TileTicket wait_for_tile(unsigned step) {
    filled[stage_of(step)].wait(parity_of(step, Schedule::stages));
    return tickets[stage_of(step)];
  }

  // In lane 0 of a warp, the sum of the first `warps` warps, once all are there.
  __device__ __forceinline__ Carry sum_of_warps(unsigned step, int warps) {
    summed[step % 2].wait(parity_of(step, 2));
    const int lane = threadIdx.x % 32;
    return fold_lanes(lane < warps ? sums[step % 4][lane] : nothing(), Join());
  }
};

// Bytes that a bulk copy can take of some elements; less than 16 are left.
template <typename T>
__device__ __forceinline__ int bulk_bytes(int count) {
  return count * static_cast<int>(sizeof(T)) / 16 * 16;
}

// Copies what a bulk copy leaves, by the lanes of a warp.
template <typename T>
__device__ __forceinline__ void copy_rest(T* target, const T* source, int count) {
  const int i = bulk_bytes<T>(count) / static_cast<int>(sizeof(T)) + threadIdx.x % 32;
  if (i < count) target[i] = source[i];
}
