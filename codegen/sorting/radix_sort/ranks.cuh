#pragma once
#include "cuda/matching_lanes.cuh"
#include "cuda/opaque.cuh"
#include "cuda/warp_scan.cuh"
#include "sorting/keys.cuh"
// Where the keys of a tile go if they are sorted by one digit, in order where digits are equal. A warp has
// consecutive keys, its lanes every 32nd. Shared memory has a row of counts for each warp, one of each digit.

constexpr int warps = Schedule::threads / 32;
constexpr int items = Schedule::items;  // keys of a thread
constexpr int tile_keys = Schedule::threads * items;

// The thread's first key in the tile; the others are 32 apart.
__device__ __forceinline__ int first_key() { return threadIdx.x / 32 * (32 * items) + threadIdx.x % 32; }

// Counts the digits of a warp's keys.
__device__ __forceinline__ void count_digits(unsigned* counts, const unsigned (&digits)[items]) {
#pragma unroll
  for (int bin = threadIdx.x % 32; bin < bins; bin += 32) counts[bin] = 0;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < items; ++i) atomicAdd(counts + digits[i], 1u);
}

// How often the tile has a digit.
__device__ __forceinline__ unsigned count_of(const unsigned* counts, int digit) {
  unsigned count = 0;
#pragma unroll
  for (int warp = 0; warp < warps; ++warp) count += counts[warp * bins + digit];
  return count;
}

// Each warp's count of a digit becomes the place in the tile of its first key with that digit.
__device__ __forceinline__ void place_warps(unsigned* counts, int digit, unsigned first) {
#pragma unroll
  for (int warp = 0; warp < warps; ++warp) {
    const unsigned count = counts[warp * bins + digit];
    counts[warp * bins + digit] = first;
    first += count;
  }
}

// The sum of the numbers of all threads before, of which those behind the first `bins` are 0. `sums` has one
// for each warp, and may be written again after the next barrier.
template <typename Number>
__device__ __forceinline__ Number sum_before(Number own, Number* sums) {
  const int warp = threadIdx.x / 32;
  const Number inclusive = scan_lanes<32>(own, Sum());
  if (threadIdx.x % 32 == 31) sums[warp] = inclusive;
  __syncthreads();
  Number before = inclusive - own;
#pragma unroll
  for (int other = 0; other < (bins + 31) / 32; ++other) {
    if (other < warp) before += sums[other];
  }
  return before;
}

// The lanes that have the same digit.
__device__ __forceinline__ unsigned lanes_alike(unsigned digit) {
#if match == match_any
  return __match_any_sync(0xffffffffu, digit);
#else
  return matching_lanes<Problem::digit_bits>(digit);
#endif
}

// Each digit becomes the key's place in the tile. `places` are those of the warp's next keys by digit.
__device__ __forceinline__ void rank_keys(unsigned* places, unsigned (&digits)[items]) {
  const int lane = threadIdx.x % 32;
  const unsigned before = (1u << lane) - 1;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    make_opaque(digits[i]);  // so that no address is kept for it since it was counted
    const unsigned alike = lanes_alike(digits[i]);
    const int last = 31 - __clz(static_cast<int>(alike));
#if advance == atomic
    unsigned first = 0;
    if (lane == last) first = atomicAdd(places + digits[i], static_cast<unsigned>(__popc(alike)));
    first = __shfl_sync(0xffffffffu, first, last);
#else
    const unsigned first = places[digits[i]];
    __syncwarp();
    if (lane == last) places[digits[i]] = first + __popc(alike);
    __syncwarp();
#endif
    digits[i] = first + __popc(alike & before);
  }
}
