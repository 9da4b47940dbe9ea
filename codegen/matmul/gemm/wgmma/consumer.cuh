#pragma once
#include "matmul/gemm/wgmma/promotion.cuh"
#include "matmul/gemm/wgmma/stages.cuh"
#if cluster_k > 1
#  include "matmul/gemm/wgmma/cluster_sums.cuh"
#endif
#if grid_blocks > 0 && !whole_tiles
#  include "matmul/gemm/wgmma/shared_tiles.cuh"
#elif residual_ring
#  include "matmul/gemm/wgmma/residual_ring.cuh"
#elif residual_stages
#  include "matmul/gemm/wgmma/residual.cuh"
#endif
#if kept_boxes
#  include "matmul/gemm/wgmma/second_output.cuh"
#endif
#if registers_a
#  include "matmul/gemm/wgmma/fragments.cuh"
#endif
// The warpgroups that multiply what is in the stages.

// Issues the products of a stage.
template <bool first>
__device__ __forceinline__ void multiply_stage(Accumulators& sums, const Consumer& own,
                                               const unsigned char* tiles) {
  const unsigned long long a = TileA::descriptor(tiles), b = TileB::descriptor(tiles + TileA::bytes);
  wgmma_fence(sums.d);
#pragma unroll
  for (int step = 0; step < Schedule::block_k / product_k; ++step) {
#pragma unroll
    for (int i = 0; i < products_m; ++i)
      wgmma(sums.d[i], advanced(a, TileA::offset(own.row + i * product_rows, step)),
            advanced(b, TileB::offset(0, step)), !first || step > 0);
  }
  wgmma_commit();
}

// Multiplies a stage when it is there, and releases the one whose products are done by then.
template <bool first>
__device__ __forceinline__ void multiply_next(Accumulators& sums, const Consumer& own, Stages& stages,
                                              Turn& turn) {
  stages.full[turn.stage()].wait(turn.parity());
  multiply_stage<first>(sums, own, Stages::tiles(turn.stage()));
  if constexpr (Schedule::wait_depth == 0) {
    wgmma_wait<0>(sums.d);
    stages.release(turn.stage());
  } else if constexpr (!first) {
    wgmma_wait<1>();
    stages.release(turn.previous());
  }
  turn.advance();
}

// Sets `sums` to the products of a work unit, of one stage at least. Calls `all_issued` when no stage is left
// to wait for.
template <class AllIssued>
__device__ __forceinline__ void multiply(Accumulators& sums, const Consumer& own, Stages& stages, Turn& turn,
                                         const WorkUnit& unit, const Promotion& promotion,
                                         AllIssued all_issued) {
  const int steps = unit.steps();
#if !registers_a
  if constexpr (Schedule::promote > 0) {
    constexpr int promoted_stages = Schedule::promote / Schedule::block_k;
    Accumulators partial;
    sums = {};
    // Of steps that are unrolled, one waits for its stage while the sums of the one before are added up.
    constexpr int unrolled = Schedule::specialize == Specialize::shape ? 32 : 4;
#  pragma unroll unrolled
    for (int step = 0; step < steps; step += promoted_stages) {
      const Promotion::Factors factors = promotion.factors(unit.first + step);
      multiply_next<true>(partial, own, stages, turn);
      if constexpr (promoted_stages > 1) {
#  pragma unroll 1
        for (int next = step + 1; next < min(steps, step + promoted_stages); ++next)
          multiply_next<false>(partial, own, stages, turn);
      }
      promotion.add(sums, partial, factors);
    }
    all_issued();
  } else {
    multiply_next<true>(sums, own, stages, turn);
#  pragma unroll 1
    for (int step = 1; step < steps; ++step) multiply_next<false>(sums, own, stages, turn);
    all_issued();
    if constexpr (Schedule::wait_depth > 0) {
      wgmma_wait<0>(sums.d);
      stages.release(turn.previous());
    }
  }
#else
  Fragments even, odd;
  int step = 1;
  multiply_fragments<true>(sums, even, own, stages, turn);
#  pragma unroll 1
  for (; step + 1 < steps; step += 2) {
    multiply_fragments<false>(sums, odd, own, stages, turn);
    multiply_fragments<false>(sums, even, own, stages, turn);
  }
  if (step < steps) multiply_fragments<false>(sums, odd, own, stages, turn);
  all_issued();
  wgmma_wait<0>(sums.d);
  __syncwarp();
  stages.release(turn.previous());
#endif
}

// Has the sums of some columns stored, and those before the activation, if they are kept.
__device__ __forceinline__ void store(const Arguments& arguments, const Problem& problem, const Tile& tile,
                                      const Consumer& own, const StoredSums& sums) {
#if kept_boxes
  store_both(arguments, problem, tile, own, sums);
#else
  store_sums(arguments, problem, tile, own, sums);
#endif
}

__device__ __forceinline__ void consume(const Arguments& arguments, const Problem& problem,
                                        const Tiling& tiling, Stages& stages, void* workspace) {
  const Consumer own;
  Accumulators sums;
  Turn turn;
#if pingpong
  int next = 0;                       // the consumer whose tile comes next
  unsigned parity = own.number == 0;  // the first one waits for nobody at first
#endif
#if residual_ring
  RingTurn ring;
#endif
  for_each_tile(problem, tiling, [&](const Tile& tile, const WorkUnit& unit, const Peers& peers) {
#if held_columns
    const HeldColumns held(arguments, problem, tile.n);
    tile.held = &held;
#endif
#if pingpong
    const bool mine = next == own.number;
    next = next + 1 == Schedule::consumers ? 0 : next + 1;
    if (!mine) {
      turn.skip(unit.steps());
#  if residual_ring
      ring.skip(consumer_boxes);
#  endif
      return;
    }
    stages.next[own.number].wait(parity);
    parity ^= 1;
    multiply(sums, own, stages, turn, unit, Promotion(arguments, problem, tile, own), [&] {
      if (threadIdx.x % 32 == 0) stages.next[next].arrive();
    });
#else
    multiply(sums, own, stages, turn, unit, Promotion(arguments, problem, tile, own), [] {});
#endif
#if grid_blocks > 0 && !whole_tiles && cluster_k == 1
    if (unit.steps() < tiling.steps && !add_up(sums, workspace, peers)) return;
#endif
#if cluster_k > 1
    exchange_sums(sums);
    if (cluster_rank() >= storing_blocks) return;
    const Tile columns{tile.batch, tile.m, tile.n + cluster_rank() * stored_columns};
    StoredSums total = added_up();
#  if grid_blocks > 0
    if (!add_up(total, workspace, peers)) return;
#  endif
    store(arguments, problem, columns, own, total);
#elif residual_ring
    add_from_ring(arguments, problem, tile, own, sums, stages, ring, parity ^ 1, next);
#elif residual_stages
    add_residual(arguments, problem, tile, own, sums, stages, turn);
#else
    store(arguments, problem, tile, own, sums);
#endif
  });
  if constexpr (!Problem::residual_stages) finish_stores();
}
