#pragma once
#include "matmul/gemm/wgmma/residual.cuh"
// C of consumers that take turns, by boxes of its own beside the stages: in stages, the boxes of one
// consumer's tile would keep those behind them from being filled while the next consumer multiplies. As in
// residual.cuh, elements of C become those of D, which tensor copies store from there.

// A box of the ring, and the parity of the phase in which it is filled; see `Turn`.
class RingTurn {
 public:
  __device__ __forceinline__ int box() const { return box_; }
  __device__ __forceinline__ unsigned parity() const { return parity_; }
  __device__ __forceinline__ unsigned char* elements() const {
    return Stages::tiles(Schedule::stages) + box_ * store_bytes;
  }
  __device__ __forceinline__ void advance() {
    if (++box_ == ring_boxes) {
      box_ = 0;
      parity_ ^= 1;
    }
  }
  __device__ __forceinline__ void skip(int boxes) {
    const unsigned box = box_ + boxes;
    box_ = box % ring_boxes;
    parity_ ^= box / ring_boxes & 1;
  }

 private:
  int box_ = 0;
  unsigned parity_ = 0;
};

// Has tensor copies fill the ring with C. By one thread, which is not that of the stages.
__device__ __forceinline__ void fill_ring(const Arguments& arguments, const Problem& problem,
                                          const Tiling& tiling, Stages& stages) {
  RingTurn turn;
  for_each_tile(problem, tiling, [&](const Tile& tile, const WorkUnit&, const Peers&) {
#pragma unroll 1
    for (int number = 0; number < consumer_boxes; ++number) {
      Barrier& full = stages.ring_full[turn.box()];
      stages.ring_empty[turn.box()].wait(turn.parity() ^ 1);
      full.arrive_and_expect(product_rows * store_row_bytes);
      tensor_copy(turn.elements(), arguments.map_c, ResidualPlace(tile, ResidualBox(number, 0)).at, full);
      turn.advance();
    }
  });
}

// Makes D of the sums and C, and has tensor copies store it, after the consumer before has waited for its own
// boxes. A box is released when it has been read.
__device__ __forceinline__ void add_from_ring(const Arguments& arguments, const Problem& problem,
                                              const Tile& tile, const Consumer& own, const Accumulators& sums,
                                              Stages& stages, RingTurn& turn, unsigned parity, int next) {
  const bool storing = threadIdx.x % warpgroup_threads == 0;
  stages.ring_next[own.number].wait(parity);
#pragma unroll
  for (int number = 0; number < consumer_boxes; ++number) {
    const ResidualBox box(number, 0);
    const SumRows rows(arguments, problem, tile, box.row);
    stages.ring_full[turn.box()].wait(turn.parity());
    fill_buffer(turn.elements(), arguments, problem, sums.d[number / boxes_across] + box.column / 2, rows,
                tile.n / parts + box.column + SumRows::column());
    proxy_fence();
    named_barrier(1 + own.number, warpgroup_threads);
    if (storing) {
      tensor_store(arguments.map_d, ResidualPlace(tile, box).at, turn.elements());
      store_commit();
      if (number > 0) {
        store_wait_read<1>();
        stages.ring_empty[(turn.box() == 0 ? ring_boxes : turn.box()) - 1].arrive();
      }
      if (number == consumer_boxes - 1) {
        stages.ring_next[next].arrive();
        store_wait_read<0>();
        stages.ring_empty[turn.box()].arrive();
      }
    }
    turn.advance();
  }
}
