#pragma once
#include "attention/attention_decode/request.cuh"
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/row_reduce.cuh"
// Keys and values of all requests as tensor copies read them: the request's first key behind the last one of
// the request ahead, whatever their pages. What lies behind a request's length is not read.

using Stored = Problem::Stored;
static_assert(sizeof(float16) == sizeof(bfloat16), "which both are complete types here");

constexpr int gathered_tile = 16;  // keys of a block

// Keys of the requests ahead of one; all lanes of a warp ask together.
__device__ __forceinline__ int keys_ahead(const Arguments& arguments, const Problem& problem, int request) {
  int ahead = 0;
  for (int other = threadIdx.x % 32; other < request; other += 32)
    ahead += sequence_of_request(arguments, problem, other).keys;
  return reduce_lanes<32>(ahead, Sum());
}

// Copies the heads of `keys` keys to `target`, each a multiple of 16 bytes behind the last one. `head_at(key,
// head)` says where one is.
template <int elements, class HeadAt>
__device__ __forceinline__ void gather_heads(const Problem& problem, Stored* target, int keys,
                                             HeadAt head_at) {
  constexpr int width = Problem::gathered_vector, vectors = elements / width, pitch = (elements + 7) / 8 * 8;
#pragma unroll 4
  for (int i = threadIdx.x; i < keys * problem.kv_heads * vectors; i += Schedule::threads) {
    const int number = i / vectors, first = i % vectors * width;
    const Stored* source = head_at(number / problem.kv_heads, number % problem.kv_heads) + first;
    store_global<false>(target + number * pitch + first, load_global<width, true>(source));
  }
}

__device__ __forceinline__ void gather_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int tiles = (problem.keys + gathered_tile - 1) / gathered_tile;
  const int request = blockIdx.x / tiles, first = blockIdx.x % tiles * gathered_tile;
  const int ahead = keys_ahead(arguments, problem, request);
  const int length = sequence_of_request(arguments, problem, request).keys;
  if (first == 0 && threadIdx.x == 0) {
    int* first_keys = static_cast<int*>(arguments.first_keys) + request;
    int* first_queries = static_cast<int*>(arguments.first_queries) + request;
    first_keys[0] = ahead, first_queries[0] = request * problem.queries;
    if (request + 1 == problem.batch) {
      first_keys[1] = ahead + length, first_queries[1] = (request + 1) * problem.queries;
    }
  }
  const int keys = min(gathered_tile, length - first);
  const long long row = (ahead + first) * static_cast<long long>(problem.kv_heads);
  gather_heads<Problem::head_dim>(
      problem, static_cast<Stored*>(arguments.gathered_keys) + row * ((Problem::head_dim + 7) / 8 * 8), keys,
      [&](int key, int head) {
        const CachedKeys cached(arguments, problem, request, head);
        return cached.key_at(problem, cached.place_of(problem, first + key));
      });
  gather_heads<Problem::value_dim>(
      problem, static_cast<Stored*>(arguments.gathered_values) + row * ((Problem::value_dim + 7) / 8 * 8),
      keys, [&](int key, int head) {
        const CachedKeys cached(arguments, problem, request, head);
        return cached.value_at(problem, cached.place_of(problem, first + key));
      });
}
