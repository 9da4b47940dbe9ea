#pragma once
#include "attention/attention/mma_sync/copy_rows.cuh"
#include "attention/attention/online_softmax.cuh"
#include "attention/attention/tile_order.cuh"
#include "cuda/products.cuh"
#include "cuda/shared_matrices.cuh"
#include "cuda/shared_memory.cuh"
#if splits > 1 || masked
#  include "attention/attention/parts.cuh"
#endif
// O = softmax(scale·Q·Kᵀ)·V by the tensor cores of warps, each of which has some queries of a head. Tiles of
// keys and values are in stages of shared memory or on their way there (cp.async). Weights stay in registers:
// they are sums of one product, and an operand of the next.
//
// Rows in shared memory are an odd number of 16-byte units long, so that 8 of them lie in different banks.
// Their elements behind a head's are zeros.

using Element = Problem::Element;

constexpr int warps = Schedule::threads / 32;
constexpr int row_tiles = Schedule::warp_rows / 16;  // of a warp
constexpr int block_rows = warps * Schedule::warp_rows;
constexpr int unit_bytes = 16;
constexpr int key_steps = (Problem::head_dim + 15) / 16;      // products along a head
constexpr int value_steps = Schedule::tile_keys / 16;         // products along keys
constexpr int key_products = Schedule::tile_keys / 8;         // of 8 keys each
constexpr int value_products = (Problem::value_dim + 7) / 8;  // of 8 columns each
constexpr int value_pairs = (Problem::value_dim + 15) / 16;
constexpr int key_pitch = (2 * key_steps | 1) * unit_bytes;
constexpr int value_pitch = (2 * value_pairs | 1) * unit_bytes;
constexpr int query_bytes = block_rows * key_pitch;
constexpr int key_bytes = Schedule::tile_keys * key_pitch;
constexpr int stage_bytes = key_bytes + Schedule::tile_keys * value_pitch;

__device__ __forceinline__ unsigned char* queries() { return dynamic_shared<unsigned char>(); }
__device__ __forceinline__ unsigned char* keys_of(int stage) {
  return queries() + query_bytes + stage * stage_bytes;
}
__device__ __forceinline__ unsigned char* values_of(int stage) { return keys_of(stage) + key_bytes; }

// Queries of a warp, as operands of products.
struct QueryFragments {
#if queries_in_registers
  unsigned a[key_steps][row_tiles][4];

  __device__ __forceinline__ void load_all(int first_row) {
#  pragma unroll
    for (int step = 0; step < key_steps; ++step) load(a[step], first_row, step);
  }
#endif

  static __device__ __forceinline__ void load(unsigned (&of_step)[row_tiles][4], int first_row, int step) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < row_tiles; ++i)
      load_matrices<false>(of_step[i], queries() + (first_row + 16 * i + lane % 16) * key_pitch +
                                           (2 * step + lane / 16) * unit_bytes);
  }
};

using KeySums = float[row_tiles][key_products][4];
using ValueSums = float[row_tiles][value_products][4];

// Sets `s` to the products of a warp's queries with the keys of a stage.
__device__ __forceinline__ void multiply_keys(KeySums& s, const QueryFragments& fragments, int first_row,
                                              int stage) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < row_tiles; ++i) {
#pragma unroll
    for (int j = 0; j < key_products; ++j) s[i][j][0] = s[i][j][1] = s[i][j][2] = s[i][j][3] = 0.0f;
  }
#pragma unroll
  for (int step = 0; step < key_steps; ++step) {
#if queries_in_registers
    const unsigned (&a)[row_tiles][4] = fragments.a[step];
#else
    unsigned a[row_tiles][4];
    fragments.load(a, first_row, step);
#endif
#pragma unroll
    for (int pair = 0; pair < key_products / 2; ++pair) {
      unsigned b[4];
      load_matrices<false>(
          b, keys_of(stage) + (16 * pair + lane % 16) * key_pitch + (2 * step + lane / 16) * unit_bytes);
      const unsigned first[2] = {b[0], b[2]}, second[2] = {b[1], b[3]};
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        add_product_anywhere<Element>(s[i][2 * pair], a[i], first);
        add_product_anywhere<Element>(s[i][2 * pair + 1], a[i], second);
      }
    }
  }
}

// Adds the products of weights with the values of a stage.
__device__ __forceinline__ void multiply_values(ValueSums& o, const unsigned (&p)[row_tiles][value_steps][4],
                                                int stage) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < value_steps; ++step) {
#pragma unroll
    for (int pair = 0; pair < value_pairs; ++pair) {
      unsigned b[4];
      load_matrices<true>(
          b, values_of(stage) + (16 * step + lane % 16) * value_pitch + (2 * pair + lane / 16) * unit_bytes);
      const unsigned first[2] = {b[0], b[1]}, second[2] = {b[2], b[3]};
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        add_product_anywhere<Element>(o[i][2 * pair], p[i][step], first);
        if (2 * pair + 1 < value_products)
          add_product_anywhere<Element>(o[i][2 * pair + 1], p[i][step], second);
      }
    }
  }
}

__device__ __forceinline__ void attention_mma_sync_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
#if splits > 1 || masked
  const Tile tile = part_at<block_rows>(arguments, problem, blockIdx.x, Schedule::heads_together);
#else
  const Tile tile = tile_at<block_rows>(arguments, problem, blockIdx.x, Schedule::heads_together);
#endif
#if segmented
  if (tile.query < 0) return;
#endif
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const int served = tile.head / problem.group, first_row = threadIdx.x / 32 * Schedule::warp_rows;
  const Element* q = arguments.q + tile.batch * problem.stride_q_b + tile.head * problem.stride_q_h +
                     (sequence.query_base + tile.query) * problem.stride_q_s;
  const Element* k = arguments.k + tile.batch * problem.stride_k_b + served * problem.stride_k_g +
                     sequence.key_base * problem.stride_k_t;
  const Element* v = arguments.v + tile.batch * problem.stride_v_b + served * problem.stride_v_g +
                     sequence.key_base * problem.stride_v_t;
#if masked
  const auto chance = [&](int key) {
    return chance_of(arguments, problem, tile, tile.query, block_rows, key);
  };
#endif
  const auto copy = [&](int key, int stage) {
#if masked
    if (key < tile.end && chance(key).holds) {
#else
    if (key < tile.end) {
#endif
      const int there = sequence.keys - key;
      copy_rows<Problem::head_dim, Schedule::tile_keys, key_pitch>(
          keys_of(stage), k + key * problem.stride_k_t, problem.stride_k_t, there);
      copy_rows<Problem::value_dim, Schedule::tile_keys, value_pitch>(
          values_of(stage), v + key * problem.stride_v_t, problem.stride_v_t, there);
    }
    async_commit();
  };
#if padded
  // Copies write nothing behind the elements of a head.
  for (int i = threadIdx.x; i < (query_bytes + Schedule::stages * stage_bytes) / unit_bytes;
       i += Schedule::threads)
    reinterpret_cast<uint4*>(queries())[i] = make_uint4(0u, 0u, 0u, 0u);
  __syncthreads();
#endif
  copy_rows<Problem::head_dim, block_rows, key_pitch>(queries(), q, problem.stride_q_s,
                                                      sequence.queries - tile.query);
  for (int stage = 0; stage < Schedule::stages - 1; ++stage)
    copy(tile.begin + stage * Schedule::tile_keys, stage);
  QueryFragments fragments;
#if queries_in_registers
  async_wait<Schedule::stages - 2>();
  __syncthreads();
  fragments.load_all(first_row);
#endif

  ValueSums o = {};
  RowPair rows[row_tiles];
  const int query = tile.query + first_row, own_row = first_row + threadIdx.x % 32 / 4;
  const int seen_from = sequence.first_key(query);
  const int seen_to = sequence.keys_end(query + Schedule::warp_rows - 1);
  const int whole_from = sequence.first_key(query + Schedule::warp_rows - 1);
  const int whole_to = sequence.keys_end(query);
  int reading = 0, writing = Schedule::stages - 1;
#pragma unroll 1
  for (int key = tile.begin; key < tile.end; key += Schedule::tile_keys) {
    async_wait<Schedule::stages - 2>();
    __syncthreads();  // the stage that is written next has been read by all
    copy(key + (Schedule::stages - 1) * Schedule::tile_keys, writing);
    writing = writing + 1 == Schedule::stages ? 0 : writing + 1;
#if masked
    if (key < seen_to && key + Schedule::tile_keys > seen_from && chance(key).holds) {
#else
    if (key < seen_to && key + Schedule::tile_keys > seen_from) {
#endif
      KeySums s;
      unsigned p[row_tiles][value_steps][4];
      multiply_keys(s, fragments, first_row, reading);
      const bool cut = key + Schedule::tile_keys > whole_to || key < whole_from;
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        float kept[2];
        apply_softcap(s[i], scores);
#if scored
        apply_fragments(s[i], scores, sequence, tile, own_row + 16 * i, key);
#elif masked
        if (chance(key).fails) apply_fragments(s[i], scores, sequence, tile, own_row + 16 * i, key);
#endif
        if (cut) mask_unseen(s[i], SeenKeys(sequence, tile.query + own_row + 16 * i), key);
        add_weights(s[i], rows[i], scores.factor, kept);
        rescale(o[i], kept);
        round_weights(p[i], s[i]);
      }
      multiply_values(o, p, reading);
    }
    reading = reading + 1 == Schedule::stages ? 0 : reading + 1;
  }
  async_wait<0>();
#pragma unroll
  for (int i = 0; i < row_tiles; ++i) {
#if splits > 1
    leave_rows(arguments, problem, o[i], rows[i], tile, own_row + 16 * i);
#else
    store_rows(arguments, problem, o[i], rows[i], scores.factor, tile, own_row + 16 * i);
#endif
  }
}
