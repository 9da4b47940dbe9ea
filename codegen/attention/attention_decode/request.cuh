#pragma once
#include "attention/attention/sequence.cuh"
#include "attention/attention_decode/stored.cuh"
// The keys and values of a request, which lie in a cache. What the device says of them, lengths and numbers
// of pages, is not trusted: none leads to what is outside of the arrays.

// Queries and keys of a request.
__device__ __forceinline__ Sequence sequence_of_request(const Arguments& arguments, const Problem& problem,
                                                        int request) {
  Sequence sequence(arguments, problem, request);
#if !full
  sequence.keys = max(0, min(arguments.lengths[request], problem.keys));
#endif
  const int diagonal = Problem::top_left ? 0 : sequence.keys - problem.queries;
#if bounded_left
  sequence.low += diagonal;
#endif
#if bounded_right
  sequence.high += diagonal;
#endif
  return sequence;
}

// Where a key lies in the cache.
struct CachePlace {
  int page;
  int slot;
};

struct CachedKeys {
#if paged
  const int* table;
#else
  int row;
#endif
  const Stored* k;
#if !latent
  const Stored* v;
#endif
#if head_scales || token_scales
  const float* k_scales;
  const float* v_scales;
#endif

  __device__ __forceinline__ CachedKeys(const Arguments& arguments, const Problem& problem, int request,
                                        int head)
      : k(arguments.k + head * problem.stride_k_g) {
#if !latent
    v = arguments.v + head * problem.stride_v_g;
#endif
#if paged
    table = arguments.table + request * static_cast<long long>(problem.columns);
#else
    row = request;
#endif
#if head_scales || token_scales
    k_scales = arguments.kscale + head * problem.stride_kscale_w;
    v_scales = arguments.vscale + head * problem.stride_vscale_w;
#endif
  }

  // The page of a key.
  __device__ __forceinline__ int page_of(const Problem& problem, int key) const {
#if paged
    const unsigned page = table[key / Problem::page], last = problem.pages - 1;
    return static_cast<int>(min(page, last));
#else
    return row;
#endif
  }

  // Where in its page a key is.
  __device__ __forceinline__ static int slot_of(int key) {
#if paged
    return key % Problem::page;
#else
    return key;
#endif
  }

  __device__ __forceinline__ CachePlace place_of(const Problem& problem, int key) const {
    return {page_of(problem, key), slot_of(key)};
  }

  __device__ __forceinline__ const Stored* key_at(const Problem& problem, CachePlace place) const {
    return k + place.page * problem.stride_k_p + place.slot * problem.stride_k_t;
  }
  // Latent keys begin with their values.
  __device__ __forceinline__ const Stored* value_at(const Problem& problem, CachePlace place) const {
#if latent
    return key_at(problem, place);
#else
    return v + place.page * problem.stride_v_p + place.slot * problem.stride_v_t;
#endif
  }
#if head_scales || token_scales

  // Where that is what codes of a key, and of its value, are multiplied by.
  __device__ __forceinline__ const float* key_scale_at(const Problem& problem, CachePlace place) const {
#  if token_scales
    return k_scales + place.page * problem.stride_kscale_u + place.slot * problem.stride_kscale_v;
#  else
    return k_scales;
#  endif
  }
  __device__ __forceinline__ const float* value_scale_at(const Problem& problem, CachePlace place) const {
#  if token_scales
    return v_scales + place.page * problem.stride_vscale_u + place.slot * problem.stride_vscale_v;
#  else
    return v_scales;
#  endif
  }
#endif
};
