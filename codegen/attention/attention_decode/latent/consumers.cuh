#pragma once
#include "attention/attention/online_softmax.cuh"
#include "attention/attention_decode/latent/tiles.cuh"
#include "cuda/named_barrier.cuh"
#include "cuda/transpose_words.cuh"
// The warpgroups that multiply. The first one multiplies queries by keys, and makes weights of the scores.
// Each multiplies them by one half of the columns of values: the first one has weights in registers, the
// second one reads them from shared memory.

constexpr int key_steps = Problem::head_dim / product_k, value_steps = tile_keys / product_k;
constexpr int key_products = tile_keys / 8, value_products = half_boxes * row_elements / 8;
constexpr int both = consumers * warpgroup_threads;

using KeySums = float[key_products][4];
using ValueSums = float[value_products][4];
using Weights = unsigned[value_steps][4];

// Named barriers: between the consumers, and of each of them.
constexpr int queries_ready = 1;
constexpr int weights_ready = 2;
constexpr int weights_read = 3;
constexpr int values_cleared = 4;  // and the next one

// Issues the products of queries and some boxes of a tile of keys, each as soon as it is there.
template <int first, int end>
__device__ __forceinline__ void multiply_keys(KeySums& s, Shared& shared, const PartTiles& tiles, int tile) {
  constexpr int of_box = row_elements / product_k;
  const int stage = tiles.stage(tile);
  const unsigned long long queries = matrix_descriptor<row_bytes>(Shared::queries(), 0, group_bytes);
  const unsigned long long keys = matrix_descriptor<row_bytes>(Shared::tile(stage), 0, group_bytes);
#pragma unroll
  for (int place = first; place < end; ++place) {
    const int box = box_at(place);
    shared.full[stage][box].wait(tiles.parity(tile));
    wgmma_fence(s);
#pragma unroll
    for (int i = 0; i < of_box && box * of_box + i < key_steps; ++i) {
      const int from = box * box_bytes + i * product_bytes;
      wgmma(reinterpret_cast<float (&)[4 * key_products]>(s), advanced(queries, from), advanced(keys, from),
            place > 0 || i > 0);
    }
  }
  wgmma_commit();
}

// Issues the products of weights, in registers or where `weight(step)` is in shared memory, and a consumer's
// columns of values.
template <class WeightOf>
__device__ __forceinline__ void multiply_values(ValueSums& o, WeightOf weight, int stage, int consumer) {
  const unsigned long long values = matrix_descriptor<row_bytes>(
      Shared::tile(stage) + consumer * half_boxes * box_bytes, box_bytes, group_bytes);
  wgmma_fence(o);
#pragma unroll
  for (int step = 0; step < value_steps; ++step)
    wgmma_values(reinterpret_cast<float (&)[4 * value_products]>(o), weight(step),
                 advanced(values, step * product_k * row_bytes), 1);
  wgmma_commit();
}

// Rows of the warpgroup's that a thread has sums of: this one and the one 8 below.
__device__ __forceinline__ int own_row() {
  return threadIdx.x % warpgroup_threads / 32 * 16 + threadIdx.x % 32 / 4;
}

// Stores weights, and what is left of sums, for the second consumer.
__device__ __forceinline__ void store_weights(Shared& shared, const Weights& p, const float (&kept)[2]) {
  const int row = own_row(), place = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < value_steps; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned from = (row + j % 2 * 8) * row_bytes + (2 * i + j / 2) * 16 + place * 4;
      *reinterpret_cast<unsigned*>(Shared::weights() + swizzled(from, row_bytes)) = p[i][j];
    }
  }
  if (place == 0) shared.kept[row] = kept[0], shared.kept[row + 8] = kept[1];
}

// Few tiles have a key whose logit is the largest so far.
__device__ __forceinline__ void rescale_seldom(ValueSums& o, const float (&kept)[2]) {
  if (__any_sync(0xffffffffu, kept[0] != 1.0f || kept[1] != 1.0f)) rescale(o, kept);
}

__device__ __forceinline__ void clear_values(const PartTiles& tiles, int tile, int consumer) {
  if (tiles.key(tile) + tile_keys <= tiles.end) return;
  clear_behind(tiles, tile, consumer);
  named_barrier(values_cleared + consumer, warpgroup_threads);
}

// The first consumer. The products of a tile's weights and values are issued ahead of those of the next
// tile's keys, so that its room is filled again while these go on.
__device__ __forceinline__ void weigh_tiles(const Arguments& arguments, const Problem& problem,
                                            const Scores& scores, const BlockRows& block,
                                            const Sequence& sequence, const PartTiles& tiles, ValueSums& o,
                                            RowPair& rows) {
  constexpr int ahead = key_boxes < 3 ? key_boxes : 3;  // boxes whose products wait for those of values
  Shared& shared = Shared::barriers();
  const int row = own_row(), seen_by_all = sequence.keys_end(block.query_of(problem, 0));
  const SeenKeys seen(sequence, block.query_of(problem, row), block.query_of(problem, row + 8));
  float kept[2];
  Weights p;
  const auto weigh = [&](KeySums& s, int tile) {
    const int key = tiles.key(tile);
    shared.release(tiles.stage(tile), queries_alone);
    apply_softcap(s, scores);
    if (key + tile_keys > min(tiles.end, seen_by_all)) {
      SeenKeys there = seen;
      there.end[0] = min(seen.end[0], tiles.end), there.end[1] = min(seen.end[1], tiles.end);
      mask_unseen(s, there, key);
    }
    add_weights(s, rows, scores.factor, kept);
    round_weights(p, s);
  };
  const auto multiply_own = [&](int tile) {
    if (tile > 0) named_barrier(weights_read, both);
    store_weights(shared, p, kept);
    rescale_seldom(o, kept);
    multiply_values(o, [&](int step) -> const unsigned (&)[4] { return p[step]; }, tiles.stage(tile), 0);
    proxy_fence();
    named_barrier_arrive(weights_ready, both);
  };
#if one_query
  if (threadIdx.x == 0) copy_queries(arguments, problem, block);
  shared.queries_full.wait(tiles.parts % 2);
#else
  store_queries(arguments, problem, block);
  named_barrier(queries_ready, both);
#endif
  {
    KeySums s;
    multiply_keys<0, key_boxes>(s, shared, tiles, 0);
    wgmma_wait<0>(s);
    weigh(s, 0);
  }
#pragma unroll 1
  for (int tile = 1; tile < tiles.count; ++tile) {
    KeySums s;
    multiply_own(tile - 1);
    multiply_keys<0, ahead>(s, shared, tiles, tile);
    wgmma_wait<1>(o);
    shared.release(tiles.stage(tile - 1), first_half);
    multiply_keys<ahead, key_boxes>(s, shared, tiles, tile);
    wgmma_wait<0>(s);
    weigh(s, tile);
  }
  clear_values(tiles, tiles.count - 1, 0);
  multiply_own(tiles.count - 1);
  wgmma_wait<0>(o);
  shared.release(tiles.stage(tiles.count - 1), first_half);
#pragma unroll
  for (float& sum : rows.sum) sum = reduce_lanes<4>(sum, Sum());
}

// The second consumer. While weights of the next tile are made, its first warp has the one behind copied.
__device__ __forceinline__ void follow_tiles(const Arguments& arguments, const Problem& problem,
                                             const BlockRows& block, const PartTiles& tiles, ValueSums& o) {
  Shared& shared = Shared::barriers();
  const int row = own_row();
  const bool copying = threadIdx.x / 32 % warpgroup_warps == 0;
  const unsigned long long weights = matrix_descriptor<row_bytes>(Shared::weights(), 0, group_bytes);
  Copies copies(arguments, problem, block, tiles);
#pragma unroll 1
  for (int i = 0; copying && i < stages; ++i) copies.next(tiles);
#if !one_query
  store_queries(arguments, problem, block);
  named_barrier_arrive(queries_ready, both);
#endif
#pragma unroll 1
  for (int tile = 0; tile < tiles.count; ++tile) {
    const int stage = tiles.stage(tile);
    named_barrier(weights_ready, both);
    const float kept[2] = {shared.kept[row], shared.kept[row + 8]};
    rescale_seldom(o, kept);
#pragma unroll
    for (int box = half_boxes; box < value_boxes; ++box) shared.full[stage][box].wait(tiles.parity(tile));
    clear_values(tiles, tile, 1);
    multiply_values(o, [&](int step) { return advanced(weights, step * product_bytes); }, stage, 1);
    wgmma_wait<0>(o);
    shared.release(stage, second_half);
    if (tile + 1 < tiles.count) named_barrier_arrive(weights_read, both);
    if (copying) copies.next(tiles);
  }
}

// Stores rows, divided by the sums of their weights, which the first consumer has.
__device__ __forceinline__ void store_rows(const Arguments& arguments, const Problem& problem,
                                           const BlockRows& block, float factor, const ValueSums& o,
                                           const RowPair& rows, int consumer) {
  Shared& shared = Shared::barriers();
  const int place = threadIdx.x % 4;
  if (consumer == 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = own_row() + 8 * half, head = block.head_of(problem, min(row, block.count - 1));
      const RowEnd ended = end_of_row(arguments, rows.largest[half], rows.sum[half], factor, head);
      if (place == 0) shared.kept[row] = ended.factor;
#if lse
      const long long of_request = block.request * static_cast<long long>(problem.heads);
      if (place == 0 && row < block.count)
        arguments.lse[(of_request + head) * problem.queries + block.query_of(problem, row)] = ended.lse;
#endif
    }
  }
  __syncthreads();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = own_row() + 8 * half;
    const float scale = shared.kept[row];
    Element* target = arguments.o + block.request * problem.stride_o_b +
                      block.query_of(problem, row) * problem.stride_o_s +
                      block.head_of(problem, row) * problem.stride_o_h + consumer * half_boxes * row_elements;
#pragma unroll
    for (int i = 0; i < value_products; i += 4) {
      unsigned words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        words[j] = pair_of<Element>(scale * o[i + j][2 * half], scale * o[i + j][2 * half + 1]);
      transpose_words(words);
      if (row < block.count)
        *reinterpret_cast<uint4*>(target + 8 * (i + place)) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

// The sums of a warp's rows in a state: of each product, vectors of its lanes side by side.
__device__ __forceinline__ float4* sums_of_warp(float* values, int consumer, int warp) {
  return reinterpret_cast<float4*>(values) + (consumer * warpgroup_warps + warp) * value_products * 32 +
         threadIdx.x % 32;
}

__device__ __forceinline__ void store_sums(float4* target, const ValueSums& o) {
#pragma unroll
  for (int i = 0; i < value_products; ++i) target[32 * i] = make_float4(o[i][0], o[i][1], o[i][2], o[i][3]);
}

__device__ __forceinline__ void add_sums(ValueSums& o, const float4* source, const float (&weights)[2]) {
#pragma unroll
  for (int i = 0; i < value_products; ++i) {
    const float4 sums = source[32 * i];
    o[i][0] = fmaf(sums.x, weights[0], o[i][0]), o[i][1] = fmaf(sums.y, weights[0], o[i][1]);
    o[i][2] = fmaf(sums.z, weights[1], o[i][2]), o[i][3] = fmaf(sums.w, weights[1], o[i][3]);
  }
}

// Leaves what a part has made of its keys.
__device__ __forceinline__ void leave_part(const States& state, const ValueSums& o, const RowPair& rows,
                                           int consumer, int count) {
  const int warp = threadIdx.x / 32 % warpgroup_warps;
  if (16 * warp >= count) return;
  store_sums(sums_of_warp(state.values, consumer, warp), o);
#pragma unroll
  for (int half = 0; half < 2; ++half)
    if (consumer == 0 && threadIdx.x % 4 == 0)
      state.tops[own_row() + 8 * half] = make_float2(rows.largest[half], rows.sum[half]);
}

// Adds what `parts` have left. Of 16 rows or fewer, each warp of a consumer adds every fourth part, and the
// first warp what all have added.
__device__ __forceinline__ void add_parts(const States& states, int parts, float factor, ValueSums& o,
                                          RowPair& rows, int consumer, int count) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % warpgroup_warps, place = lane % 4;
  const bool few = count <= 16;
  const int source = few ? 0 : warp;
  float bases[2];
#pragma unroll
  for (int i = 0; i < value_products; ++i) o[i][0] = o[i][1] = o[i][2] = o[i][3] = 0.0f;
  if (16 * source < count) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = 16 * source + lane / 4 + 8 * half;
      float largest = -infinity(), sum = 0.0f;
#pragma unroll 4
      for (int i = place; i < parts; i += 4) largest = max_nan(largest, states.from(i).tops[row].x);
      rows.largest[half] = reduce_lanes<4>(largest, Max());
      bases[half] = base_of(rows.largest[half], factor);
#pragma unroll 4
      for (int i = place; i < parts; i += 4) {
        const float2 top = states.from(i).tops[row];
        sum = fmaf(top.y, weight_of(top.x, factor, bases[half]), sum);
      }
      rows.sum[half] = reduce_lanes<4>(sum, Sum());
    }
#pragma unroll 1
    for (int part = few ? warp : 0; part < parts; part += few ? warpgroup_warps : 1) {
      const States state = states.from(part);
      float weights[2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        weights[half] = weight_of(state.tops[16 * source + lane / 4 + 8 * half].x, factor, bases[half]);
      add_sums(o, sums_of_warp(state.values, consumer, source), weights);
    }
  }
  if (few) {
    float* scratch = Shared::memory<float>();
    if (warp > 0) store_sums(sums_of_warp(scratch, consumer, warp), o);
    __syncthreads();
    const float ones[2] = {1.0f, 1.0f};
#pragma unroll 1
    for (int other = 1; warp == 0 && other < warpgroup_warps; ++other)
      add_sums(o, sums_of_warp(scratch, consumer, other), ones);
    proxy_fence();  // tensor copies take the place of sums
  }
}
