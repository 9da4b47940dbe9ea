#pragma once
#include "attention/attention/mma_sync/copy_rows.cuh"
#include "attention/attention_backward/gradient_rows.cuh"
#include "attention/attention_backward/statistics.cuh"
#include "cuda/products.cuh"
#include "cuda/shared_matrices.cuh"
#include "cuda/shared_memory.cuh"
// Gradients of attention by the tensor cores of warps, each of which has some rows of its block's tile. Tiles
// of other rows are in stages of shared memory or on their way there (cp.async). Weights and gradients of
// scores stay in registers: they are sums of one product, and an operand of the next.
//
// Rows in shared memory are an odd number of 16-byte units long, so that 8 of them lie in different banks.
// Their elements behind a head's are zeros.

constexpr int warps = Schedule::threads / 32;
constexpr int row_tiles = Schedule::warp_rows / 16;  // of a warp
constexpr int block_rows = warps * Schedule::warp_rows;
constexpr int unit_bytes = 16;
constexpr int head_steps = (Problem::head_dim + 15) / 16;  // products along a head of q and k ...
constexpr int value_steps = (Problem::value_dim + 15) / 16;
constexpr int head_products = (Problem::head_dim + 7) / 8;  // ... and of 8 of its columns
constexpr int value_products = (Problem::value_dim + 7) / 8;
constexpr int head_pitch = (2 * head_steps | 1) * unit_bytes;
constexpr int value_pitch = (2 * value_steps | 1) * unit_bytes;

// Rows of two matrices in shared memory, and statistics of as many queries behind those of the others.
struct Rows {
  unsigned char* first;   // of q or k
  unsigned char* second;  // of dout or v
};

template <bool of_keys>
struct Memory {
  static constexpr int others = of_keys ? Schedule::tile_queries : Schedule::tile_keys;
  static constexpr int own_bytes = block_rows * (head_pitch + value_pitch);
  static constexpr int row_bytes = head_pitch + value_pitch + (of_keys ? 2 * sizeof(float) : 0);
  static constexpr int bytes = own_bytes + Schedule::stages * others * row_bytes;

  static __device__ __forceinline__ Rows own() {
    unsigned char* first = dynamic_shared<unsigned char>();
    return {first, first + block_rows * head_pitch};
  }
  static __device__ __forceinline__ Rows stage(int number) {
    unsigned char* first = dynamic_shared<unsigned char>() + own_bytes + number * others * row_bytes;
    return {first, first + others * head_pitch};
  }
  static __device__ __forceinline__ float* shifts(int number) {
    return reinterpret_cast<float*>(stage(number).second + others * value_pitch);
  }
};

template <int rows>
__device__ __forceinline__ void copy_queries(const Rows& target, const Arguments& arguments,
                                             const Problem& problem, const Sequence& sequence, int batch,
                                             int head, int query) {
  const int there = sequence.queries - query, place = sequence.query_base + query;
  copy_rows<Problem::head_dim, rows, head_pitch>(
      target.first,
      arguments.q + batch * problem.stride_q_b + head * problem.stride_q_h + place * problem.stride_q_s,
      problem.stride_q_s, there);
  copy_rows<Problem::value_dim, rows, value_pitch>(target.second,
                                                   arguments.dout + batch * problem.stride_dout_b +
                                                       head * problem.stride_dout_h +
                                                       place * problem.stride_dout_s,
                                                   problem.stride_dout_s, there);
}

template <int rows>
__device__ __forceinline__ void copy_keys(const Rows& target, const Arguments& arguments,
                                          const Problem& problem, const Sequence& sequence, int batch,
                                          int head, int key) {
  const int there = sequence.keys - key, place = sequence.key_base + key;
  copy_rows<Problem::head_dim, rows, head_pitch>(
      target.first,
      arguments.k + batch * problem.stride_k_b + head * problem.stride_k_g + place * problem.stride_k_t,
      problem.stride_k_t, there);
  copy_rows<Problem::value_dim, rows, value_pitch>(
      target.second,
      arguments.v + batch * problem.stride_v_b + head * problem.stride_v_g + place * problem.stride_v_t,
      problem.stride_v_t, there);
}

// Begins to copy the shifts and deltas of a tile of queries, which begin with the row `first`.
__device__ __forceinline__ void copy_statistics(float* target, const Arguments& arguments, long long first) {
  constexpr int units = Schedule::tile_queries / 4;
  for (int i = threadIdx.x; i < 2 * units; i += Schedule::threads) {
    const float* source = i < units ? arguments.shifts : arguments.deltas;
    async_copy<unit_bytes>(target + 4 * i, source + first + 4 * (i % units));
  }
}

template <int products>
using Sums = float[row_tiles][products][4];

// Sets sums to the products of a warp's rows with others, along the elements of a head.
template <int steps, int pitch, int products>
__device__ __forceinline__ void multiply_rows(Sums<products>& sums, const unsigned char* own,
                                              const unsigned char* others) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < row_tiles; ++i) {
#pragma unroll
    for (int j = 0; j < products; ++j) sums[i][j][0] = sums[i][j][1] = sums[i][j][2] = sums[i][j][3] = 0.0f;
  }
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    const int unit = (lane % 16) * pitch + (2 * step + lane / 16) * unit_bytes;
    unsigned a[row_tiles][4];
#pragma unroll
    for (int i = 0; i < row_tiles; ++i) load_matrices<false>(a[i], own + 16 * i * pitch + unit);
#pragma unroll
    for (int pair = 0; pair < products / 2; ++pair) {
      unsigned b[4];
      load_matrices<false>(b, others + 16 * pair * pitch + unit);
      const unsigned first[2] = {b[0], b[2]}, second[2] = {b[1], b[3]};
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        add_product_anywhere<Element>(sums[i][2 * pair], a[i], first);
        add_product_anywhere<Element>(sums[i][2 * pair + 1], a[i], second);
      }
    }
  }
}

// Adds the products of factors with the rows of others.
template <int pitch, int products, int steps>
__device__ __forceinline__ void add_rows(Sums<products>& sums, const unsigned (&factors)[row_tiles][steps][4],
                                         const unsigned char* others) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int pair = 0; pair < (products + 1) / 2; ++pair) {
      unsigned b[4];
      load_matrices<true>(b, others + (16 * step + lane % 16) * pitch + (2 * pair + lane / 16) * unit_bytes);
      const unsigned first[2] = {b[0], b[1]}, second[2] = {b[2], b[3]};
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        add_product_anywhere<Element>(sums[i][2 * pair], factors[i][step], first);
        if (2 * pair + 1 < products)
          add_product_anywhere<Element>(sums[i][2 * pair + 1], factors[i][step], second);
      }
    }
  }
}

// Adds up dq, or dk or dv or both: `of_first` is the gradient of the first matrix, `of_second` that of the
// second one.
template <bool of_keys, bool of_first, bool of_second>
__device__ __forceinline__ void pass_mma_sync(const Arguments& arguments) {
  using Passed = Pass<of_keys>;
  using Shared = Memory<of_keys>;
  constexpr int tile = Shared::others, products = tile / 8;
  const Problem problem(arguments);
  const Scores scores(arguments);
  const OwnRows own =
      Passed::template tile<block_rows, Schedule::heads_together>(arguments, problem, blockIdx.x);
#if segmented
  if (own.row < 0) return;
#endif
  const Sequence sequence = sequence_of(arguments, problem, own);
  const int first_row = threadIdx.x / 32 * Schedule::warp_rows, row = own.row + first_row;
  const int of_head = (max(own.end - own.begin, 0) + tile - 1) / tile;
  const int steps = of_head * Passed::heads_met(problem);
  const auto copy = [&](int step, int stage) {
    if (step < steps) {
      const int other = own.begin + step % of_head * tile;
      if constexpr (of_keys) {
        const int head = own.head * problem.group + step / of_head;
        copy_queries<tile>(Shared::stage(stage), arguments, problem, sequence, own.batch, head, other);
        copy_statistics(Shared::shifts(stage), arguments, statistics_of(problem, own, head) + other);
      } else {
        copy_keys<tile>(Shared::stage(stage), arguments, problem, sequence, own.batch,
                        own.head / problem.group, other);
      }
    }
    async_commit();
  };
#if padded
  // Copies write nothing behind the elements of a head.
  for (int i = threadIdx.x; i < Shared::bytes / unit_bytes; i += Schedule::threads)
    reinterpret_cast<uint4*>(Shared::own().first)[i] = make_uint4(0u, 0u, 0u, 0u);
  __syncthreads();
#endif
  if constexpr (of_keys) {
    copy_keys<block_rows>(Shared::own(), arguments, problem, sequence, own.batch, own.head, own.row);
  } else {
    copy_queries<block_rows>(Shared::own(), arguments, problem, sequence, own.batch, own.head, own.row);
  }
  for (int stage = 0; stage < Schedule::stages - 1; ++stage) copy(stage, stage);

  Sums<of_first ? head_products : 1> first = {};
  Sums<of_second ? value_products : 1> second = {};
  const int lane_row = row + threadIdx.x % 32 / 4;
  const Cuts<of_keys> cuts(sequence, row, Schedule::warp_rows);
  const unsigned char* own_first = Shared::own().first + first_row * head_pitch;
  const unsigned char* own_second = Shared::own().second + first_row * value_pitch;
  int reading = 0, writing = Schedule::stages - 1;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    async_wait<Schedule::stages - 2>();
    __syncthreads();  // the stage that is written next has been read by all
    copy(step + Schedule::stages - 1, writing);
    writing = writing + 1 == Schedule::stages ? 0 : writing + 1;
    const int other = own.begin + step % of_head * tile;
#if masked
    const int head_met = step / of_head;
    if (cuts.met(other, tile) &&
        chance_of<of_keys>(arguments, problem, own, head_met, row, Schedule::warp_rows, other, tile).holds) {
#else
    if (cuts.met(other, tile)) {
#endif
      const Rows others = Shared::stage(reading);
      Sums<products> weights, gradients;
      multiply_rows<head_steps, head_pitch>(weights, own_first, others.first);
      multiply_rows<value_steps, value_pitch>(gradients, own_second, others.second);
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        const auto statistics = StatisticsOf<of_keys>(arguments, problem, own, lane_row + 16 * i)
                                    .of_tile(Shared::shifts(reading));
        Slopes<products> slopes;
#if scored || masked
        const PairPlaces<of_keys> places(own, problem.group, step / of_head, lane_row + 16 * i, other);
        weigh(weights[i], slopes, scores, statistics, places);
#else
        weigh(weights[i], slopes, scores, statistics);
#endif
        differentiate(gradients[i], weights[i], slopes, statistics);
        if (cuts.cut(other, tile))
          mask_unmet(weights[i], gradients[i], MetRows<of_keys>(sequence, lane_row + 16 * i), other);
      }
      unsigned factors[row_tiles][products / 2][4];
      if constexpr (of_second) {
#pragma unroll
        for (int i = 0; i < row_tiles; ++i) round_factors(factors[i], weights[i]);
        add_rows<value_pitch>(second, factors, others.second);
      }
      if constexpr (of_first) {
#pragma unroll
        for (int i = 0; i < row_tiles; ++i) round_factors(factors[i], gradients[i]);
        add_rows<head_pitch>(first, factors, others.first);
      }
    }
    reading = reading + 1 == Schedule::stages ? 0 : reading + 1;
  }
  async_wait<0>();
#pragma unroll
  for (int i = 0; i < row_tiles; ++i)
    store_sums<of_keys, of_first, of_second>(arguments, problem, own, sequence, lane_row + 16 * i, first[i],
                                             second[i]);
}

__device__ __forceinline__ void attention_backward_queries_block(const Arguments& arguments) {
  pass_mma_sync<false, true, false>(arguments);
}
__device__ __forceinline__ void attention_backward_keys_block(const Arguments& arguments) {
  pass_mma_sync<true, true, Schedule::together>(arguments);
}
#if !together
__device__ __forceinline__ void attention_backward_values_block(const Arguments& arguments) {
  pass_mma_sync<true, false, true>(arguments);
}
#endif
