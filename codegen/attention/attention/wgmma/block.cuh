#pragma once
#include "attention/attention/wgmma/consumer.cuh"
#include "attention/attention/wgmma/producer.cuh"
#include "cuda/register_count.cuh"
// O = softmax(scale·Q·Kᵀ)·V by warpgroups (sm_90a): the first one has tensor copies bring queries, keys and
// values to shared memory. Each of the others has 64 queries.

constexpr int block_threads = (1 + Schedule::consumers) * warpgroup_threads;
constexpr int given_registers = 65536 / (block_threads * Schedule::min_blocks_per_sm) / 8 * 8;
constexpr int producer_registers = 24;
constexpr int given_up = (given_registers - producer_registers) / Schedule::consumers;
constexpr int fair_registers = (given_registers + given_up) / 8 * 8;
constexpr int most_registers = 240;
constexpr int taken_registers = fair_registers < most_registers ? fair_registers : most_registers;

__device__ __forceinline__ void attention_wgmma_block(const Arguments& arguments) {
  const Problem problem(arguments);
  Stages& stages = Stages::barriers();
  if (threadIdx.x == 0) stages.init();
  if (threadIdx.x == 32) {
    prefetch_map(arguments.map_q);
    prefetch_map(arguments.map_k);
    prefetch_map(arguments.map_v);
  }
  __syncthreads();
  if (threadIdx.x < warpgroup_threads) {
    if constexpr (given_registers < most_registers) give_up_registers<producer_registers>();
#if segmented && grid_blocks > 0
    if (threadIdx.x == 0) produce(arguments, problem, stages);
    if (threadIdx.x / 32 == 1) find_tiles(arguments, problem, stages);
#elif segmented
    if (threadIdx.x < 32) produce(arguments, problem, stages);
#else
    if (threadIdx.x == 0) produce(arguments, problem, stages);
#endif
  } else {
    if constexpr (given_registers < most_registers) take_registers<taken_registers>();
    consume(arguments, problem, stages);
  }
}
