#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/warp_scan.cuh"
#include "selection/chain_speculative_sampling/accepted.cuh"
// A block for each row. It sums the weights of the draw by parts of the row, a warp each, and divides the
// part that has the token among all warps again, until a weight for each lane is left.

constexpr int warps = Schedule::threads / 32;

__device__ __forceinline__ Mass mass_of(const Rest& rest, int first, int end) {
  constexpr int tile = 32 * Schedule::unrolled;
  const int lane = threadIdx.x % 32;
  Mass sum = 0;
  for (int base = first; base < end; base += tile) {
#pragma unroll
    for (int i = 0; i < Schedule::unrolled; ++i) {
      const int column = base + i * 32 + lane;
      if (column < end) sum += rest.at(column);
    }
  }
  return reduce_lanes<32>(sum, Sum());
}

__device__ __forceinline__ int draw_token(const Rest& rest, int columns, Mass random, Mass* of_warps) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int first = 0, end = columns;
  Mass drawn = 0;
  for (bool again = false; !again || end - first > 32; again = true) {
    const int of_warp = (end - first + warps - 1) / warps;
    const int own_first = first + warp * of_warp < end ? first + warp * of_warp : end;
    const int own_end = end - own_first < of_warp ? end : own_first + of_warp;
    const Mass mass = mass_of(rest, own_first, own_end);
    __syncthreads();
    if (lane == 0) of_warps[warp] = mass;
    __syncthreads();
    const Mass own = lane < warps ? of_warps[lane] : 0;
    const Mass through = scan_lanes<32>(own, Sum());
    if (!again) {
      const Mass total = from_lane<32>(through, 31);
      if (total == 0) return -1;
      drawn = __umul64hi(random, total);
    }
    const int chosen = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, through > drawn))) - 1;
    drawn -= from_lane<32>(through - own, chosen);
    first += chosen * of_warp;
    end = end - first < of_warp ? end : first + of_warp;
  }
  const Mass own = first + lane < end ? rest.at(first + lane) : 0;
  const Mass through = scan_lanes<32>(own, Sum());
  return first + __ffs(static_cast<int>(__ballot_sync(0xffffffffu, through > drawn))) - 1;
}

__device__ __forceinline__ void speculate_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x;
  int accepted = problem.drafts;
  for (int base = 0; base < problem.drafts; base += 32) {
    const int place = base + threadIdx.x % 32;
    const bool rejected = place < problem.drafts && !is_accepted(arguments, problem, row, place);
    const unsigned found = __ballot_sync(0xffffffffu, rejected);
    if (found) {
      accepted = base + __ffs(static_cast<int>(found)) - 1;
      break;
    }
  }
  const Rest rest(arguments, problem, row, accepted);
  const Mass random = random_bits(arguments, problem, row, problem.drafts);
  const int drawn = draw_token(rest, problem.columns, random, dynamic_shared<Mass>());
  for (int place = threadIdx.x; place <= problem.drafts; place += Schedule::threads) {
    store_place(arguments, problem, row, place, accepted, drawn);
  }
  if (threadIdx.x == 0) arguments.accepted[row] = accepted;
}
