#pragma once
#include "cuda/opaque.cuh"
#include "cuda/shared_memory.cuh"
#include "cuda/tile_tickets.cuh"
#include "cuda/warp_scan.cuh"
#include "scan/scan/carry.cuh"
#include "scan/scan/span.cuh"
#if skewed
#  include "scan/scan/skewed_span.cuh"
#endif
// A tile of a row in registers. A warp has consecutive vectors of it: in each round, neighbouring lanes have
// neighbouring vectors.

// A thread's elements of a tile, as they were loaded, and what precedes its vectors in the warp's part.
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
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
#if skewed
      vectors_[round] = load_skewed(source + step(round), span, offset(round));
#else
      vectors_[round] = load_elements(source + step(round), span.inside(offset(round)));
#endif
    }
    total_ = nothing();
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
#if segmented
      heads_[round] = heads.of_vector(span, offset(round), span.inside(offset(round)));
#endif
      const Carry inclusive = scan_lanes<row_lanes>(of_vector(round), Join());
      before_[round] = Join()(total_, shift_lanes<row_lanes>(inclusive, nothing()));
      total_ = Join()(total_, from_lane<row_lanes>(inclusive, row_lanes - 1));
    }
  }

  // Of all elements of the thread's warp, or of its row in the warp.
  __device__ __forceinline__ Carry total() const { return total_; }

  // `before` precedes the warp's part.
  __device__ __forceinline__ void store(Result* row, const Span& span, Carry before) {
    Result* target = row + span.first + offset(0);
    make_opaque(target);
#if skewed
    Span here = span;  // so that what its vectors lack is found again, not kept in registers
    make_opaque(here.begin);
    make_opaque(here.end);
#endif
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      make_words_opaque(vectors_[round]);
      Number running = Join()(before, before_[round]).number;
#if init
      running = combine(first, running);
#endif
      Results results;
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const Number number = number_at(round, i);
        const bool head = is_head(round, i);
#if exclusive && init
        results.elements[in_memory(i)] = rounded(head ? first : running);
#elif exclusive
        results.elements[in_memory(i)] = rounded(head ? identity() : running);
#endif
#if init
        running = combine(head ? first : running, number);
#else
        running = head ? number : combine(running, number);
#endif
#if !exclusive
        results.elements[in_memory(i)] = rounded(running);
#endif
      }
#if skewed
      store_skewed(target + step(round), results, here, offset(round));
#else
      store_results(target + step(round), results, span.inside(offset(round)));
#endif
    }
  }
#if init
  Number first;  // what every scan begins with
#endif

 private:
  // Its elements joined.
  __device__ __forceinline__ Carry of_vector(int round) const {
    Number number = number_at(round, 0);
#pragma unroll
    for (int i = 1; i < width; ++i) {
      number = is_head(round, i) ? number_at(round, i) : combine(number, number_at(round, i));
    }
#if segmented
    return {number, heads_[round] != 0};
#else
    return {number};
#endif
  }

  __device__ __forceinline__ Number number_at(int round, int i) const {
    return number_of(vectors_[round].elements[in_memory(i)]);
  }

  __device__ __forceinline__ bool is_head(int round, int i) const {
#if segmented
    return heads_[round] >> i & 1;
#else
    return false;
#endif
  }

  Elements vectors_[Schedule::rounds];
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
