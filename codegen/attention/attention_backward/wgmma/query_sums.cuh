#pragma once
#include "attention/attention_backward/gradient_rows.cuh"
#include "attention/attention_backward/wgmma/stages.cuh"
#include "cuda/shared_matrices.cuh"
#include "cuda/vector_add.cuh"
// dq in a single pass: blocks that have keys add what these give to sums in the workspace. Gradients of
// scores go through shared memory, from the consumer that has their keys to the one that has their part of
// dq.
//
// They lie there as boxes of 64 queries, whose rows are keys. A consumer has 64 queries of a tile, or all of
// its 64 queries and as many columns as others.

using GradientTiles = Tiles<true>;
constexpr int gradient_box_bytes = GradientTiles::own * row_bytes;
constexpr int gradient_steps = GradientTiles::own / product_k;
constexpr bool queries_apart = GradientTiles::others > consumer_rows || GradientTiles::consumers == 1;
constexpr int boxes_of_consumer = queries_apart ? head_boxes : head_boxes / GradientTiles::consumers;
constexpr int sum_products = queries_apart ? head_products : boxes_of_consumer * row_elements / 8;

using QuerySums = float[sum_products][4];

// Gradients of scores of keys that are not there become 0: their weights may be infinite.
template <int products>
__device__ __forceinline__ void drop_keys(float (&gradients)[products][4], int row, int keys) {
#pragma unroll
  for (int i = 0; i < products; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (row + 8 * (j / 2) >= keys) gradients[i][j] = 0.0f;
  }
}

// Stores a warp's gradients of scores, of 16 keys from `row` on.
template <int steps>
__device__ __forceinline__ void store_gradients(unsigned char* buffer, const unsigned (&ds)[steps][4],
                                                int row) {
  const int lane = threadIdx.x % 32, own = row + lane % 16;
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    const int query = product_k * i + lane / 16 * 8, box = query / row_elements;
    const int offset = own * row_bytes + query % row_elements * static_cast<int>(sizeof(Element));
    store_matrices(buffer + box * gradient_box_bytes + swizzled(offset, row_bytes), ds[i]);
  }
}

// Issues the products of gradients of scores with the block's keys.
__device__ __forceinline__ void multiply_keys(QuerySums& sums, const unsigned char* buffer,
                                              const unsigned char* keys, int consumer) {
  const int box = queries_apart ? consumer : 0, first_box = queries_apart ? 0 : consumer * boxes_of_consumer;
  const unsigned long long a =
      matrix_descriptor<row_bytes>(buffer + box * gradient_box_bytes, gradient_box_bytes, group_bytes);
  const unsigned long long b = matrix_descriptor<row_bytes>(keys + first_box * GradientTiles::own_box_bytes,
                                                            GradientTiles::own_box_bytes, group_bytes);
  wgmma_fence(sums);
#pragma unroll
  for (int step = 0; step < gradient_steps; ++step)
    wgmma_of_columns(reinterpret_cast<float (&)[4 * sum_products]>(sums),
                     advanced(a, step * product_k * row_bytes), advanced(b, step * product_k * row_bytes),
                     step > 0);
  wgmma_commit();
}

// The tile of sums of a tile of queries of a sequence, among those of a head.
__device__ __forceinline__ int sum_tile(int query_base, int index, int query) {
#if segmented
  return query_base / GradientTiles::others + index + query / GradientTiles::others;
#else
  return query / GradientTiles::others;
#endif
}

// Where a thread's sums are: those of a tile lie as threads have them.
__device__ __forceinline__ float* sums_of(const Arguments& arguments, const Problem& problem,
                                          long long all_head, int of_head, int consumer) {
#if segmented
  const int tiles = problem.queries / GradientTiles::others + problem.sequences;
#else
  const int tiles = (problem.queries + GradientTiles::others - 1) / GradientTiles::others;
#endif
  const long long tile = all_head * tiles + of_head;
  const long long first = (tile * GradientTiles::consumers + consumer) * sum_products;
  return arguments.sums + 4 * (first * warpgroup_threads + threadIdx.x % warpgroup_threads);
}

__device__ __forceinline__ void add_sums(float* target, const QuerySums& sums) {
#pragma unroll
  for (int i = 0; i < sum_products; ++i) add_vector(target + 4 * warpgroup_threads * i, sums[i]);
}

// Rounds the sums of a tile of queries.
__device__ __forceinline__ void attention_backward_round_block(const Arguments& arguments) {
  const Problem problem(arguments);
#if segmented
  const int tiles = most_tiles<GradientTiles::others>(problem, problem.queries);
  const Found found = find_tile<GradientTiles::others>(arguments, problem, blockIdx.x % tiles);
  if (found.number < 0) return;
  const int all_head = blockIdx.x / tiles, query = found.number * GradientTiles::others;
  const int index = found.sequence;
#else
  const int tiles = (problem.queries + GradientTiles::others - 1) / GradientTiles::others;
  const int all_head = blockIdx.x / tiles, query = blockIdx.x % tiles * GradientTiles::others;
  const int index = 0;
#endif
  const int tile = sum_tile(Sequence(arguments, problem, index).query_base, index, query);
  const int consumer = threadIdx.x / warpgroup_threads, warp = threadIdx.x % warpgroup_threads / 32;
  const float4* source =
      reinterpret_cast<const float4*>(sums_of(arguments, problem, all_head, tile, consumer));
  QuerySums sums;
#pragma unroll
  for (int i = 0; i < sum_products; ++i) {
    const float4 four = source[warpgroup_threads * i];
    sums[i][0] = four.x, sums[i][1] = four.y, sums[i][2] = four.z, sums[i][3] = four.w;
  }
  const int row = query + (queries_apart ? consumer * consumer_rows : 0) + 16 * warp + threadIdx.x % 32 / 4;
  const int column = queries_apart ? 0 : consumer * boxes_of_consumer * row_elements;
  const Sequence sequence(arguments, problem, index);
  const long long batch = all_head / problem.heads, head = all_head % problem.heads;
  store_gradient(arguments.dq + batch * problem.stride_dq_b + head * problem.stride_dq_h +
                     sequence.query_base * problem.stride_dq_s + column,
                 problem.stride_dq_s, row, sequence.queries, Problem::head_dim - column, sums,
                 scale_of(arguments));
}
