#pragma once
#include "attention/attention/scores.cuh"
#include "attention/attention/sequence.cuh"
#include "cuda/numbers.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
// O = softmax(scale·Q·Kᵀ)·V as FlashAttention first did it: a block has a head of a sequence. Its outer loop
// goes through tiles of keys and values, which are read once; the inner one through the queries, whose
// largest scores and sums come from memory for each tile, and go back there.

constexpr int tile_keys = 32;  // a lane has one while scores are computed

// Sets rows of so many elements, of a tile of keys; those that are not there become zeros.
template <int threads, int elements, typename Element>
__device__ __forceinline__ void load_tile(Element* target, const Element* source, long long stride,
                                          int there) {
#pragma unroll 1
  for (int i = threadIdx.x; i < tile_keys * elements; i += threads)
    target[i] = i / elements < there ? source[i / elements * stride + i % elements] : Element{};
}

// What a query has in memory: its largest logit, the sum of its weights, and its sums of values.
struct RowState {
  float largest;
  float sum;
  float o[Problem::value_dim];
};

template <int threads>
__device__ __forceinline__ void attention_flash_v1(const Arguments& arguments) {
  using Element = Problem::Element;
  constexpr int warps = threads / 32;
  const Problem problem(arguments);
  const Scores scores(arguments);
  Element* keys = dynamic_shared<Element>();
  Element* values = keys + tile_keys * Problem::head_dim;
  const int index = blockIdx.x / problem.heads, head = blockIdx.x % problem.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, served = head / problem.group;
  const Sequence sequence(arguments, problem, index);
#if segmented
  const long long batch = 0;
#else
  const long long batch = index;
#endif
  const Element* q = arguments.q + batch * problem.stride_q_b + head * problem.stride_q_h +
                     sequence.query_base * problem.stride_q_s;
  const Element* k = arguments.k + batch * problem.stride_k_b + served * problem.stride_k_g +
                     sequence.key_base * problem.stride_k_t;
  const Element* v = arguments.v + batch * problem.stride_v_b + served * problem.stride_v_g +
                     sequence.key_base * problem.stride_v_t;
  const long long first_row = (batch * problem.heads + head) * problem.queries + sequence.query_base;
  RowState* rows = static_cast<RowState*>(arguments.workspace) + first_row;

  for (int query = warp; query < sequence.queries; query += warps) {
    if (lane == 0) rows[query].largest = -infinity(), rows[query].sum = 0.0f;
    for (int column = lane; column < Problem::value_dim; column += 32) rows[query].o[column] = 0.0f;
  }
  for (int first = 0; first < sequence.keys; first += tile_keys) {
    const int there = sequence.keys - first;
    __syncthreads();  // the last tile has been read by all
    load_tile<threads, Problem::head_dim>(keys, k + first * problem.stride_k_t, problem.stride_k_t, there);
    load_tile<threads, Problem::value_dim>(values, v + first * problem.stride_v_t, problem.stride_v_t, there);
    __syncthreads();
    for (int query = warp; query < sequence.queries; query += warps) {
      RowState& row = rows[query];
      const int key = first + lane;
      float weight = 0.0f;
#pragma unroll 2
      for (int i = 0; i < Problem::head_dim; ++i)
        weight = fmaf(to_float(q[query * problem.stride_q_s + i]),
                      to_float(keys[lane * Problem::head_dim + i]), weight);
#if scored || masked
      weight = scores.logit(weight, sequence.number, head, query, key);
#else
      weight = scores.logit(weight);
#endif
      if (key < sequence.first_key(query) || key >= sequence.keys_end(query)) weight = -infinity();
      const float top = max_nan(row.largest, reduce_lanes<32>(weight, Max()));
      const float base = base_of(top, scores.factor);
      const float kept = kept_of(row.largest, scores.factor, base);
      weight = weight_of(weight, scores.factor, base);
      const float sum = reduce_lanes<32>(weight, Sum());
      for (int base_column = 0; base_column < Problem::value_dim; base_column += 32) {
        const int column = base_column + lane;
        float o = column < Problem::value_dim ? row.o[column] * kept : 0.0f;
#pragma unroll 4
        for (int i = 0; i < tile_keys; ++i) {
          const float of_key = __shfl_sync(0xffffffffu, weight, i);
          if (column < Problem::value_dim)
            o = fmaf(of_key, to_float(values[i * Problem::value_dim + column]), o);
        }
        if (column < Problem::value_dim) row.o[column] = o;
      }
      __syncwarp();  // all lanes have read what the first one writes
      if (lane == 0) row.largest = top, row.sum = row.sum * kept + sum;
    }
  }
  __syncwarp();
  for (int query = warp; query < sequence.queries; query += warps) {
    const RowState& row = rows[query];
    const RowEnd ended = end_of_row(arguments, row.largest, row.sum, scores.factor, head);
    const int place = sequence.query_base + query;
    Element* o =
        arguments.o + batch * problem.stride_o_b + place * problem.stride_o_s + head * problem.stride_o_h;
    for (int column = lane; column < Problem::value_dim; column += 32)
      o[column] = from_float<Element>(row.o[column] * ended.factor);
#if lse
    if (lane == 0) arguments.lse[first_row + query] = ended.lse;
#endif
  }
}
