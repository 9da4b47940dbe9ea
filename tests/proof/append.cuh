#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
// cache[slots[b, s], h, d] = x[b, s, h, d]: a thread moves `vector` elements along d.

__device__ __forceinline__ void append_vector(const Arguments& arguments) {
  const long long vectors = arguments.head_dim / Schedule::vector;
  const long long count = arguments.batch * arguments.sequence * arguments.heads * vectors;
  long long index = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (index >= count) return;
  const long long d = index % vectors * Schedule::vector;
  index /= vectors;
  const long long h = index % arguments.heads, token = index / arguments.heads;
  const long long b = token / arguments.sequence, s = token % arguments.sequence;
  const bfloat16* source =
      arguments.x + b * arguments.stride_x_b + s * arguments.stride_x_s + h * arguments.stride_x_h + d;
  const long long slot = arguments.slots[token];
  bfloat16* target = arguments.cache + slot * arguments.stride_cache_p + h * arguments.stride_cache_h + d;
  store_global<false>(target, load_global<Schedule::vector, true>(source));
}
