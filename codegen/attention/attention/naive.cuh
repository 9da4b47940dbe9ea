#pragma once
#include "attention/attention/naive_row.cuh"
#include "attention/attention/sequence.cuh"
#include "cuda/shared_memory.cuh"
// O = softmax(scale·Q·Kᵀ)·V: a block for each row.

// Where a row of O is, (batch, place, head) in row-major order, and the keys that it sees: those of its
// sequence from `first` on, up to the one before `end`.
struct RowPlace {
  int head, place;
  long long batch;
  RowName name;
  int first, end;
  const Problem::Element* k;  // of key 0 of the sequence
  const Problem::Element* v;

  __device__ __forceinline__ RowPlace(const Arguments& arguments, const Problem& problem, long long row)
      : head(row % problem.heads),
        place(row / problem.heads % problem.queries),
        batch(row / problem.heads / problem.queries) {
    int index = 0;
#if segmented
    while (arguments.offsets[index + 1] <= place) ++index;
#endif
    const Sequence sequence(arguments, problem, index);
    const int query = place - sequence.query_base, served = head / problem.group;
#if segmented
    name = {index, query};
#else
    name = {static_cast<int>(batch), query};
#endif
    first = sequence.first_key(query);
    end = sequence.keys_end(query);
    k = arguments.k + batch * problem.stride_k_b + served * problem.stride_k_g +
        sequence.key_base * problem.stride_k_t;
    v = arguments.v + batch * problem.stride_v_b + served * problem.stride_v_g +
        sequence.key_base * problem.stride_v_t;
  }
};

template <int threads, typename Number>
__device__ __forceinline__ void attend_row(const Arguments& arguments, const Problem& problem, long long row,
                                           Number* weights) {
  const RowPlace own(arguments, problem, row);
  attend_keys<threads>(
      arguments, problem, own.batch, own.place, own.name, own.head, own.first, own.end,
      [&](int key) { return own.k + key * problem.stride_k_t; },
      [&](int key) { return own.v + key * problem.stride_v_t; }, weights);
}

template <int threads, typename Number>
__device__ __forceinline__ void attention_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  Number* weights = dynamic_shared<Number>();
#if reference
  for (long long sample = blockIdx.x; sample < arguments.sampled_count; sample += gridDim.x) {
    attend_row<threads>(arguments, problem, arguments.sampled_rows[sample], weights);
    __syncthreads();  // before the next row
  }
#else
  attend_row<threads>(arguments, problem, blockIdx.x, weights);
#endif
}
