#pragma once
#include "attention/attention_backward/statistics.cuh"
#include "attention/attention_backward/wgmma/consumer.cuh"
#include "attention/attention_backward/wgmma/producer.cuh"
#include "cuda/register_count.cuh"
// Gradients of attention by warpgroups (sm_90a): the first one has tensor copies bring rows to shared memory.
// Each of the others has 64 rows of the block's tile.

constexpr int producer_registers = 24;
constexpr int most_registers = 240;

template <bool of_keys, bool of_first, bool of_second>
__device__ __forceinline__ void pass_wgmma(const Arguments& arguments, const Matrices& matrices) {
  constexpr int consumers = Tiles<of_keys>::consumers;
  constexpr int blocks = of_keys ? Schedule::min_blocks_per_sm : Schedule::query_blocks_per_sm;
  constexpr int given = 65536 / ((1 + consumers) * warpgroup_threads * blocks) / 8 * 8;
  constexpr int fair = (given + (given - producer_registers) / consumers) / 8 * 8;
  constexpr int taken = fair < most_registers ? fair : most_registers;
  const Problem problem(arguments);
#if segmented
  const OwnRows found = own_rows<of_keys>(arguments, problem);
  if (found.row < 0) return;
  const auto own = [&] { return found; };
#else
  const auto own = [&] { return own_rows<of_keys>(arguments, problem); };  // each thread by itself
#endif
  Stages<of_keys>& stages = Stages<of_keys>::barriers();
  if (threadIdx.x == 0) stages.init();
  __syncthreads();
  if (threadIdx.x < warpgroup_threads) {
    if constexpr (given < most_registers) give_up_registers<producer_registers>();
    if (threadIdx.x == 0) produce(arguments, problem, own(), matrices, stages);
  } else {
    if constexpr (given < most_registers) take_registers<taken>();
    Consumer<of_keys, of_first, of_second>{arguments, problem, stages, Scores(arguments), own()}.run();
  }
}

#if !single_pass
__device__ __forceinline__ void attention_backward_queries_block(const Arguments& arguments) {
  pass_wgmma<false, true, false>(
      arguments, {arguments.map_own_q, arguments.map_own_dout, arguments.map_k, arguments.map_v});
}
#endif
__device__ __forceinline__ void attention_backward_keys_block(const Arguments& arguments) {
  pass_wgmma<true, true, Schedule::together>(
      arguments, {arguments.map_own_k, arguments.map_own_v, arguments.map_q, arguments.map_dout});
}
#if !together
__device__ __forceinline__ void attention_backward_values_block(const Arguments& arguments) {
  pass_wgmma<true, false, true>(
      arguments, {arguments.map_own_k, arguments.map_own_v, arguments.map_q, arguments.map_dout});
}
#endif
