#pragma once
#include "attention/attention/naive_row.cuh"
#include "attention/attention_decode/request.cuh"
#include "cuda/shared_memory.cuh"
// Attention with keys and values in a cache: a block for each row.

#if cache == plain
__device__ __forceinline__ const Stored* numbers_of_key(const Problem& problem, const CachedKeys& cached,
                                                        CachePlace place) {
  return cached.key_at(problem, place);
}
__device__ __forceinline__ const Stored* numbers_of_value(const Problem& problem, const CachedKeys& cached,
                                                          CachePlace place) {
  return cached.value_at(problem, place);
}
#else
// A head of codes, of which an element is a number, exactly.
struct ScaledHead {
  const Stored* codes;
  double scale;

  __device__ __forceinline__ double operator[](int i) const { return scale * to_float(codes[i]); }
};

__device__ __forceinline__ ScaledHead numbers_of_key(const Problem& problem, const CachedKeys& cached,
                                                     CachePlace place) {
  return {cached.key_at(problem, place), *cached.key_scale_at(problem, place)};
}
__device__ __forceinline__ ScaledHead numbers_of_value(const Problem& problem, const CachedKeys& cached,
                                                       CachePlace place) {
  return {cached.value_at(problem, place), *cached.value_scale_at(problem, place)};
}
#endif

template <int threads, typename Number>
__device__ __forceinline__ void decode_row(const Arguments& arguments, const Problem& problem, long long row,
                                           Number* weights) {
  const int head = row % problem.heads, query = row / problem.heads % problem.queries;
  const int request = row / problem.heads / problem.queries;
  const Sequence sequence = sequence_of_request(arguments, problem, request);
  const CachedKeys cached(arguments, problem, request, head / problem.group);
  attend_keys<threads>(
      arguments, problem, request, query, {request, query}, head, sequence.first_key(query),
      sequence.keys_end(query),
      [&](int key) { return numbers_of_key(problem, cached, cached.place_of(problem, key)); },
      [&](int key) { return numbers_of_value(problem, cached, cached.place_of(problem, key)); }, weights);
}

template <int threads, typename Number>
__device__ __forceinline__ void attention_decode_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  Number* weights = dynamic_shared<Number>();
#if reference
  for (long long sample = blockIdx.x; sample < arguments.sampled_count; sample += gridDim.x) {
    decode_row<threads>(arguments, problem, arguments.sampled_rows[sample], weights);
    __syncthreads();  // before the next row
  }
#else
  decode_row<threads>(arguments, problem, blockIdx.x, weights);
#endif
}
