#pragma once
#include "cuda/register_count.cuh"
#include "matmul/gemm/prepare.cuh"
#include "matmul/gemm/wgmma/consumer.cuh"
#if !gathered_a  // else who includes this has defined it
#  include "matmul/gemm/wgmma/producer.cuh"
#endif
// D = activation(alpha·op(A)·op(B) + bias) + beta·C by warpgroups (sm_90a): the first one has tensor copies
// fill stages of shared memory, the others multiply what is there. What prepared operands leave of the
// workspace is for tiles that blocks share.

// Registers of a thread as a block begins with them, by its launch bounds. Where these are too few for sums,
// consumers take what the producers give up.
constexpr int block_threads = (1 + Schedule::consumers) * warpgroup_threads;
constexpr int given_registers = 65536 / (block_threads * Schedule::min_blocks_per_sm) / 8 * 8;
constexpr int producer_registers = 24;
constexpr int given_up = (given_registers - producer_registers) / Schedule::consumers;
constexpr int taken_registers = (given_registers + given_up) / 8 * 8;
constexpr int most_registers = 240;

__device__ __forceinline__ void gemm_wgmma_block(const Arguments& arguments, void* workspace) {
  const Problem problem(arguments);
#if gathered_a
  const Tiling tiling = tiling_of_taps(problem);
#else
  const Tiling tiling(problem);
#endif
  Stages& stages = Stages::barriers();
  if (threadIdx.x == 0) stages.init();
  if (threadIdx.x == 32) {  // a thread of another warp, meanwhile
    prefetch_map(arguments.map_a);
    prefetch_map(arguments.map_b);
  }
  if constexpr (cluster_blocks > 1) {
    cluster_barrier();
  } else {
    __syncthreads();
  }
  if (threadIdx.x < warpgroup_threads) {
    if constexpr (given_registers < most_registers) give_up_registers<producer_registers>();
    if (threadIdx.x == 0) produce(arguments, problem, tiling, stages);
#if residual_ring
    if (threadIdx.x == 32) fill_ring(arguments, problem, tiling, stages);
#endif
    if constexpr (Schedule::cluster_k > 1) cluster_barrier();  // that of consumers which add up
  } else {
    if constexpr (given_registers < most_registers)
      take_registers < taken_registers<most_registers ? taken_registers : most_registers>();
    consume(arguments, problem, tiling, stages, workspace);
  }
  // Others may arrive at this block's barriers, or read its sums, until then.
  if constexpr (cluster_blocks * Schedule::cluster_k > 1) cluster_barrier();
}
