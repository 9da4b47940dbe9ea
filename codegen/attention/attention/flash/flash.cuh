#pragma once
#include "attention/attention/scores.cuh"
#include "attention/attention/tile_order.cuh"
#include "cuda/number_pairs.cuh"
#include "cuda/packed.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
// O = softmax(scale·Q·Kᵀ)·V by fused multiply-adds: a block has some queries of a head. Tiles of keys and
// values go through shared memory, one after the other; a row keeps its largest score so far, and its sums
// relative to it (online softmax).
//
// A warp has some rows. Its lanes have a key each while scores are computed, then columns of o.

using Element = Problem::Element;

constexpr int warps = Schedule::threads / 32;
constexpr int block_rows = warps * Schedule::rows_per_warp;
constexpr int key_words = (Problem::head_dim + 1) / 2;  // words of two elements
constexpr int value_words = (Problem::value_dim + 1) / 2;
constexpr int key_pitch = key_words | 1;  // rows of keys begin in different banks
constexpr int keys_of_lane = Schedule::tile_keys / 32;
constexpr int words_of_lane = (value_words + 31) / 32;

struct SharedTiles {
  unsigned queries[block_rows * key_words];
  unsigned keys[Schedule::tile_keys * key_pitch];
  unsigned values[Schedule::tile_keys * value_words];
};

// Loads rows of so many elements, which begin so many words apart; those that are not there are zeros.
template <int elements, int pitch>
__device__ __forceinline__ void load_rows(unsigned* target, const Element* source, long long stride, int rows,
                                          int there) {
  constexpr int vector = Schedule::vector_width;
  constexpr int vectors = (elements + elements % 2) / vector;  // of a row, with what fills its last word
  for (int i = threadIdx.x; i < rows * vectors; i += Schedule::threads) {
    const int row = i / vectors, column = i % vectors * vector;
    Packed<Element, vector> packed{};
    if (row < there && (vector > 1 || column < elements))
      packed = load_global<vector, false>(source + row * stride + column);
    if constexpr (vector == 1) {
      reinterpret_cast<Element*>(target + row * pitch)[column] = packed.elements[0];
    } else {
#pragma unroll
      for (int word = 0; word < vector / 2; ++word)
        target[row * pitch + column / 2 + word] =
            packed.elements[2 * word].bits | static_cast<unsigned>(packed.elements[2 * word + 1].bits) << 16;
    }
  }
}

// What a warp knows of its rows.
struct Rows {
  float largest[Schedule::rows_per_warp];
  float sum[Schedule::rows_per_warp];  // of this lane's keys
  float o[Schedule::rows_per_warp][words_of_lane][2];

  // Adds a tile of keys from `first` on.
  __device__ __forceinline__ void add(const SharedTiles& tiles, const Sequence& sequence,
                                      const Scores& scores, const Tile& tile, int first) {
    const int lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * Schedule::rows_per_warp;
    float weights[Schedule::rows_per_warp][keys_of_lane] = {};
#pragma unroll 4
    for (int word = 0; word < key_words; ++word) {
      unsigned key[keys_of_lane];
#pragma unroll
      for (int i = 0; i < keys_of_lane; ++i) key[i] = tiles.keys[(32 * i + lane) * key_pitch + word];
#pragma unroll
      for (int row = 0; row < Schedule::rows_per_warp; ++row) {
        const unsigned query = tiles.queries[(first_row + row) * key_words + word];
#pragma unroll
        for (int i = 0; i < keys_of_lane; ++i) {
          float& product = weights[row][i];
          product = fmaf(first_of<Element>(query), first_of<Element>(key[i]), product);
          product = fmaf(second_of<Element>(query), second_of<Element>(key[i]), product);
        }
      }
    }
#pragma unroll
    for (int row = 0; row < Schedule::rows_per_warp; ++row) {
      const int query = tile.query + first_row + row;
      const int begin = sequence.first_key(query), end = sequence.keys_end(query);
      float top = largest[row];
#pragma unroll
      for (int i = 0; i < keys_of_lane; ++i) {
        const int key = first + 32 * i + lane;
        float& weight = weights[row][i];
#if scored || masked
        const float logit = scores.logit(weight, sequence.number, tile.head, query, key);
#else
        const float logit = scores.logit(weight);
#endif
        weight = begin <= key && key < end ? logit : -infinity();
        top = max_nan(top, weight);
      }
      top = reduce_lanes<32>(top, Max());
      const float base = base_of(top, scores.factor);
      const float kept = kept_of(largest[row], scores.factor, base);
      largest[row] = top;
      sum[row] *= kept;
#pragma unroll
      for (int i = 0; i < keys_of_lane; ++i) {
        weights[row][i] = weight_of(weights[row][i], scores.factor, base);
        sum[row] += weights[row][i];
      }
#pragma unroll
      for (int i = 0; i < words_of_lane; ++i) o[row][i][0] *= kept, o[row][i][1] *= kept;
    }
#pragma unroll
    for (int i = 0; i < keys_of_lane; ++i) {
#pragma unroll 4
      for (int key = 0; key < 32; ++key) {
        unsigned value[words_of_lane];
#pragma unroll
        for (int word = 0; word < words_of_lane; ++word) {
          const int column = 32 * word + lane;
          value[word] = column < value_words ? tiles.values[(32 * i + key) * value_words + column] : 0u;
        }
#pragma unroll
        for (int row = 0; row < Schedule::rows_per_warp; ++row) {
          const float weight = __shfl_sync(0xffffffffu, weights[row][i], key);
#pragma unroll
          for (int word = 0; word < words_of_lane; ++word) {
            o[row][word][0] = fmaf(weight, first_of<Element>(value[word]), o[row][word][0]);
            o[row][word][1] = fmaf(weight, second_of<Element>(value[word]), o[row][word][1]);
          }
        }
      }
    }
  }
};

__device__ __forceinline__ void attention_flash_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
  SharedTiles& tiles = *dynamic_shared<SharedTiles>();
  const Tile tile = tile_at<block_rows>(arguments, problem, blockIdx.x, problem.all_heads);
#if segmented
  if (tile.query < 0) return;
#endif
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const int served = tile.head / problem.group, queries = min(block_rows, sequence.queries - tile.query);
  const Element* q = arguments.q + tile.batch * problem.stride_q_b + tile.head * problem.stride_q_h +
                     (sequence.query_base + tile.query) * problem.stride_q_s;
  const Element* k = arguments.k + tile.batch * problem.stride_k_b + served * problem.stride_k_g +
                     sequence.key_base * problem.stride_k_t;
  const Element* v = arguments.v + tile.batch * problem.stride_v_b + served * problem.stride_v_g +
                     sequence.key_base * problem.stride_v_t;

  Rows rows = {};
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_warp; ++row) rows.largest[row] = -infinity();
  load_rows<Problem::head_dim, key_words>(tiles.queries, q, problem.stride_q_s, block_rows, queries);
#pragma unroll 1
  for (int first = tile.begin; first < tile.end; first += Schedule::tile_keys) {
    const int there = min(Schedule::tile_keys, sequence.keys - first);
    load_rows<Problem::head_dim, key_pitch>(tiles.keys, k + first * problem.stride_k_t, problem.stride_k_t,
                                            Schedule::tile_keys, there);
    load_rows<Problem::value_dim, value_words>(tiles.values, v + first * problem.stride_v_t,
                                               problem.stride_v_t, Schedule::tile_keys, there);
    __syncthreads();
    rows.add(tiles, sequence, scores, tile, first);
    __syncthreads();  // before the next tile
  }

  const int lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * Schedule::rows_per_warp;
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_warp; ++row) {
    const float sum = reduce_lanes<32>(rows.sum[row], Sum());
    const int query = tile.query + first_row + row, place = sequence.query_base + query;
    if (query >= sequence.queries) continue;
    const RowEnd ended = end_of_row(arguments, rows.largest[row], sum, scores.factor, tile.head);
    Element* o = arguments.o + tile.batch * problem.stride_o_b + place * problem.stride_o_s +
                 tile.head * problem.stride_o_h;
#pragma unroll
    for (int word = 0; word < words_of_lane; ++word) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = 2 * (32 * word + lane) + half;
        if (column < Problem::value_dim)
          o[column] = from_float<Element>(rows.o[row][word][half] * ended.factor);
      }
    }
#if lse
    const long long of_head = static_cast<long long>(tile.batch) * problem.heads + tile.head;
    if (lane == 0) arguments.lse[of_head * problem.queries + place] = ended.lse;
#endif
  }
}
