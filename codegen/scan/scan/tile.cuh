#pragma once
#include "cuda/opaque.cuh"
#include "cuda/shared_memory.cuh"
#include "cuda/tile_tickets.cuh"
#include "cuda/warp_scan.cuh"
#include "scan/scan/carry.cuh"
#include "scan/scan/span.cuh"
// A tile of a row in registers. A warp has consecutive vectors of it: in each round, neighbouring lanes have
// neighbouring vectors.

// A thread's elements of a tile: each vector scanned by itself, and what precedes it in the warp's part.
class Part {
 public:
  // Offset of a vector's first element in memory from that of the thread's first vector: a constant.
  __device__ __forceinline__ static constexpr int step(int round) {
#if reverse
    return -round * (row_lanes * width);
#else
    return round * (row_lanes * width);
#endif
  }

  // The same from the tile's first vector.
  __device__ __forceinline__ static int offset(int round) {
    const int thread = threadIdx.x % row_threads;
    const int vector = thread / 32 * Schedule::rounds * row_lanes + thread % row_lanes;
#if reverse
    return -vector * width + step(round);
#else
    return vector * width + step(round);
#endif
  }

  // `row` is the row's first element; `heads` says where segments begin.
  template <class Heads>
  __device__ __forceinline__ Part(const Element* row, const Span& span, const Heads& heads) {
    const Element* source = row + span.first + offset(0);
    make_opaque(source);
    Elements vectors[Schedule::rounds];
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      vectors[round] = load_elements(source + step(round), span.inside(offset(round)));
    }
    Carry running = nothing();
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      const int inside = span.inside(offset(round));
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const bool exists = in_memory(i) < inside;
        numbers_[round][i] = exists ? number_of(vectors[round].elements[in_memory(i)]) : identity();
      }
#if segmented
      heads_[round] = heads.of_vector(span, offset(round), inside);
#endif
      running = join_vector(round, running);
    }
    total_ = running;
  }

  // Of all elements of the thread's warp, or of its row in the warp.
  __device__ __forceinline__ Carry total() const { return total_; }

  // `before` precedes the warp's part.
  __device__ __forceinline__ void store(Result* row, const Span& span, Carry before) const {
    Result* target = row + span.first + offset(0);
    make_opaque(target);
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      const Number preceding = Join()(before, before_[round]).number;
      Results vector;
#pragma unroll
      for (int i = 0; i < width; ++i) vector.elements[in_memory(i)] = rounded(result(round, i, preceding));
      store_results(target + step(round), vector, span.inside(offset(round)));
    }
  }

 private:
  // Scans a vector, and the vectors of all lanes; returns what precedes the next round.
  __device__ __forceinline__ Carry join_vector(int round, Carry running) {
    Number(&numbers)[width] = numbers_[round];
#pragma unroll
    for (int i = 1; i < width; ++i) {
      if (!is_head(round, i)) numbers[i] = combine(numbers[i - 1], numbers[i]);
    }
    Carry own = {numbers[width - 1]};
#if segmented
    own.has_head = heads_[round] != 0;
#endif
    const Carry inclusive = scan_lanes<row_lanes>(own, Join());
    before_[round] = Join()(running, shift_lanes<row_lanes>(inclusive, nothing()));
    return Join()(running, from_lane<row_lanes>(inclusive, row_lanes - 1));
  }

  __device__ __forceinline__ Number result(int round, int i, Number preceding) const {
#if exclusive
    if (is_head(round, i)) return identity();
    return i == 0 ? preceding : continued(round, i - 1, preceding);
#else
    return continued(round, i, preceding);
#endif
  }

  __device__ __forceinline__ Number continued(int round, int i, Number preceding) const {
    const Number number = numbers_[round][i];
#if segmented
    return heads_[round] & ((2u << i) - 1) ? number : combine(preceding, number);
#else
    return combine(preceding, number);
#endif
  }

  __device__ __forceinline__ bool is_head(int round, int i) const {
#if segmented
    return heads_[round] >> i & 1;
#else
    return false;
#endif
  }

  Number numbers_[Schedule::rounds][width];
  Carry before_[Schedule::rounds];
  Carry total_;
#if segmented
  unsigned heads_[Schedule::rounds];  // a bit for each element, in the order of the scan
#endif
};

// 16 bytes of shared memory.
union Slot {
  Carry carry;
  TileTicket ticket;
  uint4 bits;
};

// What precedes each warp of a row of several, and all of them; `scratch` has a slot for each warp of the
// block, and may be written again after the next but one barrier.
struct Warps {
  Carry before, total;
};

__device__ __forceinline__ Warps join_warps(Carry own, Slot* scratch) {
  constexpr int warps = row_threads / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) scratch[warp].carry = own;
  __syncthreads();
  const Carry inclusive = scan_lanes<warps>(scratch[warp / warps * warps + lane % warps].carry, Join());
  const Carry exclusive = shift_lanes<warps>(inclusive, nothing());
  return {from_lane<warps>(exclusive, warp % warps), from_lane<warps>(inclusive, warps - 1)};
}
