#pragma once
#include "attention/attention_backward/gradient_rows.cuh"
#include "attention/attention_backward/wgmma/stages.cuh"
#if single_pass
#  include "attention/attention_backward/wgmma/query_sums.cuh"
#  include "cuda/named_barrier.cuh"
#endif
// The warpgroups that multiply, each of which has 64 rows of its block's tile. Weights and gradients of
// scores stay in registers: they are sums of one product, and an operand of the next.

template <int products>
using Sums = float[products][4];

// Issues the products of 64 own rows with others, along the elements of a head.
template <int steps, int own_box_bytes, int box_bytes, int products>
__device__ __forceinline__ void multiply_rows(Sums<products>& sums, const unsigned char* own,
                                              const unsigned char* others) {
  const unsigned long long a = matrix_descriptor<row_bytes>(own, 0, group_bytes);
  const unsigned long long b = matrix_descriptor<row_bytes>(others, 0, group_bytes);
  wgmma_fence(sums);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    constexpr int of_box = row_bytes / product_bytes;
    const int box = step / of_box, within = step % of_box * product_bytes;
    wgmma(reinterpret_cast<float (&)[4 * products]>(sums), advanced(a, box * own_box_bytes + within),
          advanced(b, box * box_bytes + within), step > 0);
  }
  wgmma_commit();
}

// Issues the products of factors with the rows of others, which are added.
template <int box_bytes, int products, int steps>
__device__ __forceinline__ void add_rows(Sums<products>& sums, const unsigned (&factors)[steps][4],
                                         const unsigned char* others) {
  const unsigned long long b = matrix_descriptor<row_bytes>(others, box_bytes, group_bytes);
  wgmma_fence(sums);
#pragma unroll
  for (int step = 0; step < steps; ++step)
    wgmma(reinterpret_cast<float (&)[4 * products]>(sums), factors[step],
          advanced(b, step * product_k * row_bytes), 1);
  wgmma_commit();
}

// By all lanes of a warp, which have read what is released.
__device__ __forceinline__ void release(Barrier& empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) empty.arrive();
}

// Adds up dq, or dk or dv or both: `of_first` is the gradient of the first matrix, `of_second` that of the
// second one.
template <bool of_keys, bool of_first, bool of_second>
struct Consumer {
  using Sizes = Tiles<of_keys>;
  static constexpr int tile = Sizes::others, products = tile / 8;

  const Arguments& arguments;
  const Problem& problem;
  Stages<of_keys>& stages;
  const Scores scores;
  const OwnRows own;

  __device__ __forceinline__ void run() {
    stages.own_full.wait(0);
    int left = (max(own.end - own.begin, 0) + tile - 1) / tile * Pass<of_keys>::heads_met(problem);
#if masked
    if (left > 0) {
      for (left = 0, skip_unseen(); met_head < Pass<of_keys>::heads_met(problem); next_rows(), skip_unseen())
        ++left;
      met_head = 0;
      skip_unseen();
    }
#endif
#if ahead
    if (left > 0) {
      multiply_scores();
      wgmma_wait<0>(weights);
#  pragma unroll 1
      for (; left > 1; --left) step<true>();
      step<false>();
    }
#else
#  pragma unroll 1
    for (; left > 0; --left) {
      multiply_scores();
      wgmma_wait<0>(weights);
      step<false>();
    }
#endif
    store_sums<of_keys, of_first, of_second>(arguments, problem, own, sequence, lane_row, first, second);
  }

  // Issues the products that are scores of the others of this turn.
  __device__ __forceinline__ void multiply_scores() {
    const int stage = turn.stage();
    stages.first_full[stage].wait(turn.parity());
    multiply_rows<head_steps, Sizes::own_box_bytes, Sizes::box_bytes>(
        weights, stages.own_first() + first_row * row_bytes, stages.first(stage));
  }

  // Adds what others give whose scores are there; if there are more, their scores are at the end.
  template <bool more>
  __device__ __forceinline__ void step() {
    const int stage = turn.stage(), head = met_head, other = met_row;
    Sums<products> gradients;
    stages.second_full[stage].wait(turn.parity());
    multiply_rows<value_steps, Sizes::own_box_bytes, Sizes::box_bytes>(
        gradients, stages.own_second() + first_row * row_bytes, stages.second(stage));
    Slopes<products> slopes;
#if scored || masked
    const PairPlaces<of_keys> places(own, problem.group, head, lane_row, other);
    weigh(weights, slopes, scores, statistics.of_tile(stages.shifts(stage)), places);
#else
    weigh(weights, slopes, scores, statistics.of_tile(stages.shifts(stage)));
#endif
    wgmma_wait<0>(gradients);
    differentiate(gradients, weights, slopes, statistics.of_tile(stages.shifts(stage)));
    if (cuts.cut(other, tile)) mask_unmet(weights, gradients, met, other);
#if single_pass
    if (own.row + first_row + consumer_rows > sequence.keys) drop_keys(gradients, lane_row, sequence.keys);
#endif
    unsigned p[products / 2][4], ds[products / 2][4];
    if constexpr (of_second) {
      round_factors(p, weights);
      add_rows<Sizes::box_bytes>(second, p, stages.second(stage));
    }
    if constexpr (of_first) round_factors(ds, gradients);
#if single_pass
    store_gradients(stages.gradients(buffer), ds, first_row + threadIdx.x % warpgroup_threads / 32 * 16);
    proxy_fence();
#endif
    if constexpr (of_first) add_rows<Sizes::box_bytes>(first, ds, stages.first(stage));
#if single_pass
    named_barrier(1, Sizes::consumers * warpgroup_threads);
    QuerySums sums;
    multiply_keys(sums, stages.gradients(buffer), stages.own_first(), number);
    buffer ^= 1;  // is not read any more once all have come to the next barrier
#endif
    constexpr int behind = Schedule::single_pass;  // products under way behind those of dk
    if constexpr (of_second) wgmma_wait<behind + of_first>(second);
    release(stages.second_empty[stage]);
    advance();
    if constexpr (more) multiply_scores();
    if constexpr (of_first) wgmma_wait<behind + more>(first);
    release(stages.first_empty[stage]);
#if single_pass
    wgmma_wait<more>(sums);
    const long long served = own.batch * static_cast<long long>(Pass<of_keys>::heads(problem)) + own.head;
    add_sums(sums_of(arguments, problem, served * problem.group + head,
                     sum_tile(sequence.query_base, index_of(own), other), number),
             sums);
#endif
    if constexpr (more) wgmma_wait<0>(weights);
  }

#if masked
  __device__ __forceinline__ void advance() {
    turn.advance();
    next_rows();
    skip_unseen();
  }

  // Goes on to the first turn from this one on in which the mask may let some pair of the block's be seen.
  __device__ __forceinline__ void skip_unseen() {
    while (met_head < Pass<of_keys>::heads_met(problem) &&
           !chance_of<of_keys>(arguments, problem, own, met_head, own.row, Sizes::own, met_row, tile).holds)
      next_rows();
  }

  __device__ __forceinline__ void next_rows() {
#else
  __device__ __forceinline__ void advance() {
    turn.advance();
#endif
    met_row += tile;
    if (met_row >= own.end) {
      met_row = own.begin;
      ++met_head;
    }
  }

  const Sequence sequence = sequence_of(arguments, problem, own);
  const int number = __shfl_sync(0xffffffffu, threadIdx.x / warpgroup_threads, 0) - 1;
  const int first_row = number * consumer_rows;
  const int lane_row = own.row + first_row + threadIdx.x % warpgroup_threads / 32 * 16 + threadIdx.x % 32 / 4;
  const Cuts<of_keys> cuts{sequence, own.row + first_row, consumer_rows};
  const MetRows<of_keys> met{sequence, lane_row};
  const StatisticsOf<of_keys> statistics{arguments, problem, own, lane_row};
  Sums<of_first ? head_products : 1> first = {};
  Sums<of_second ? value_products : 1> second = {};
  Sums<products> weights;
  Turn<Sizes::stages> turn;
  int met_head = 0;         // of those that are met ...
  int met_row = own.begin;  // ... and the first row of the turn
#if single_pass
  int buffer = 0;
#endif
};
