#pragma once
#include "attention/attention/online_softmax.cuh"
#include "attention/attention_decode/latent/tiles.cuh"
#include "cuda/named_barrier.cuh"
#include "cuda/transpose_words.cuh"
// Two warpgroups take turns: the one whose turn it is multiplies queries by a tile of keys, and makes weights
// of the scores, while the other one does so with the next tile. Either multiplies all weights by one half of
// the columns of values: its own in registers, the other's in shared memory.

constexpr int key_steps = Problem::head_dim / product_k, value_steps = tile_keys / product_k;
constexpr int key_products = tile_keys / 8, value_products = half_boxes * row_elements / 8;
constexpr int both = consumers * warpgroup_threads;

using KeySums = float[key_products][4];
using ValueSums = float[value_products][4];
using Weights = unsigned[value_steps][4];

// Named barriers: between the consumers, and of each of them.
enum Meeting { queries_ready = 1, weights_ready, values_cleared = weights_ready + consumers };

// Issues the products of queries and a tile of keys, box by box as they come.
__device__ __forceinline__ void multiply_keys(KeySums& s, Shared& shared, const PartTiles& tiles, int tile) {
  constexpr int of_box = row_elements / product_k;
  const int stage = tiles.stage(tile);
  const unsigned long long queries = matrix_descriptor<row_bytes>(Shared::queries(), 0, group_bytes);
  const unsigned long long keys = matrix_descriptor<row_bytes>(Shared::tile(stage), 0, group_bytes);
#pragma unroll
  for (int place = 0; place < key_boxes; ++place) {
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

// The first of a thread's columns of values.
__device__ __forceinline__ int first_column(int consumer) {
  return consumer * half_boxes * row_elements + threadIdx.x % 4 * 2;
}

// Stores weights, and what is left of sums, for the other consumer.
__device__ __forceinline__ void store_weights(Shared& shared, const Weights& p, const RowPair& rows,
                                              const float (&kept)[2]) {
  const int row = own_row(), place = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < value_steps; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned from = (row + j % 2 * 8) * row_bytes + (2 * i + j / 2) * 16 + place * 4;
      *reinterpret_cast<unsigned*>(Shared::weights() + swizzled(from, row_bytes)) = p[i][j];
    }
  }
  __syncwarp();  // all lanes have read what the other one has left
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (place == 0) shared.kept[row + 8 * half] = kept[half];
    if (place == 0) shared.largest[row + 8 * half] = rows.largest[half];
  }
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

// What a consumer does with the tiles of a part. The products of the other's weights go on while it makes its
// own. It is the last one that reads the other's weights, so it may overwrite them.
__device__ __forceinline__ void attend_tiles(const Arguments& arguments, const Problem& problem,
                                             const Scores& scores, const BlockRows& block,
                                             const Sequence& sequence, const PartTiles& tiles, int consumer,
                                             ValueSums& o, RowPair& rows) {
  Shared& shared = Shared::barriers();
  const Readers half = consumer == 0 ? first_half : second_half;
  const int row = own_row(), seen_by_all = sequence.keys_end(block.query_of(problem, 0)),
            other = consumers - 1 - consumer;
  const bool copying = threadIdx.x / 32 % warpgroup_warps == 0;
  const unsigned long long weights = matrix_descriptor<row_bytes>(Shared::weights(), 0, group_bytes);
  const SeenKeys seen(sequence, block.query_of(problem, row), block.query_of(problem, row + 8));
  Copies copies(arguments, problem, block, tiles, consumer);
  if (copying) copies.next(tiles);
  copy_queries(arguments, problem, block);
  named_barrier(queries_ready, both);
  // Issues the products of a tile's weights that the other one has made.
  const auto follow = [&](int tile) {
    named_barrier(weights_ready + other, both);
    float kept[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      kept[i] = shared.kept[row + 8 * i];
      rows.largest[i] = shared.largest[row + 8 * i];
      rows.sum[i] *= kept[i];
    }
    rescale_seldom(o, kept);
#pragma unroll
    for (int box = 0; box < half_boxes; ++box)
      shared.full[tiles.stage(tile)][consumer * half_boxes + box].wait(tiles.parity(tile));
    clear_values(tiles, tile, consumer);
    multiply_values(
        o, [&](int step) { return advanced(weights, step * product_bytes); }, tiles.stage(tile), consumer);
  };
#pragma unroll 1
  for (int tile = consumer; tile < tiles.count; tile += consumers) {
    KeySums s;
    float kept[2];
    Weights p;
    multiply_keys(s, shared, tiles, tile);
    if (tile > 0) {
      follow(tile - 1);
      wgmma_wait<1>(s);
    } else {
      wgmma_wait<0>(s);
    }
    shared.release(tiles.stage(tile), queries_alone);
    const int key = tiles.key(tile);
    apply_softcap(s, scores);
    if (key + tile_keys > min(tiles.end, seen_by_all)) {
      SeenKeys there = seen;
      there.end[0] = min(seen.end[0], tiles.end), there.end[1] = min(seen.end[1], tiles.end);
      mask_unseen(s, there, key);
    }
    add_weights(s, rows, scores.factor, kept);
    round_weights(p, s);
    wgmma_wait<0>(o);
    if (tile > 0) shared.release(tiles.stage(tile - 1), half);
    store_weights(shared, p, rows, kept);
    rescale_seldom(o, kept);
    clear_values(tiles, tile, consumer);
    multiply_values(
        o, [&](int step) -> const unsigned (&)[4] { return p[step]; }, tiles.stage(tile), consumer);
    proxy_fence();
    named_barrier_arrive(weights_ready + consumer, both);
    wgmma_wait<0>(o);
    shared.release(tiles.stage(tile), half);
    if (copying) copies.next(tiles);
  }
  if ((tiles.count - 1) % consumers == other) {
    follow(tiles.count - 1);
    wgmma_wait<0>(o);
    shared.release(tiles.stage(tiles.count - 1), half);
  }
}

// Adds the sums of weights of both consumers.
__device__ __forceinline__ void add_sums(RowPair& rows, int consumer) {
  Shared& shared = Shared::barriers();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = reduce_lanes<4>(rows.sum[half], Sum());
    if (threadIdx.x % 4 == 0) shared.sums[consumer][own_row() + 8 * half] = sum;
  }
  __syncthreads();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = own_row() + 8 * half;
    rows.sum[half] = shared.sums[0][row] + shared.sums[1][row];
  }
}

// Stores rows, divided by the sums of their weights.
__device__ __forceinline__ void store_rows(const Arguments& arguments, const Problem& problem,
                                           const BlockRows& block, float factor, const ValueSums& o,
                                           const RowPair& rows, int consumer) {
  const int place = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = own_row() + 8 * half, head = block.head_of(problem, min(row, block.count - 1));
    const int query = block.query_of(problem, row);
    const RowEnd ended = end_of_row(arguments, rows.largest[half], rows.sum[half], factor, head);
#if lse
    const long long of_request = block.request * static_cast<long long>(problem.heads);
    if (consumer == 0 && place == 0 && row < block.count)
      arguments.lse[(of_request + head) * problem.queries + query] = ended.lse;
#endif
    Element* target = arguments.o + block.request * problem.stride_o_b + query * problem.stride_o_s +
                      head * problem.stride_o_h + consumer * half_boxes * row_elements;
#pragma unroll
    for (int i = 0; i < value_products; i += 4) {
      unsigned words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        words[j] = pair_of<Element>(ended.factor * o[i + j][2 * half], ended.factor * o[i + j][2 * half + 1]);
      transpose_words(words);
      if (row < block.count)
        *reinterpret_cast<uint4*>(target + 8 * (i + place)) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

// Leaves what a part has made of its keys.
__device__ __forceinline__ void leave_part(const States& state, const ValueSums& o, const RowPair& rows,
                                           int consumer, int count) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = own_row() + 8 * half;
    if (row >= count) continue;
    if (consumer == 0 && threadIdx.x % 4 == 0)
      state.tops[row] = make_float2(rows.largest[half], rows.sum[half]);
    float2* target = reinterpret_cast<float2*>(state.values + row * state_pitch + first_column(consumer));
#pragma unroll
    for (int i = 0; i < value_products; ++i) target[4 * i] = make_float2(o[i][2 * half], o[i][2 * half + 1]);
  }
}

// Adds what `parts` have left, in their order. Each thread has the same rows and columns as of products.
__device__ __forceinline__ void add_parts(const States& states, int parts, float factor, ValueSums& o,
                                          RowPair& rows, int consumer, int count) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = min(own_row() + 8 * half, count - 1);
    float largest = -infinity(), sum = 0.0f;
#pragma unroll 4
    for (int i = 0; i < parts; ++i) largest = max_nan(largest, states.from(i).tops[row].x);
    const float base = base_of(largest, factor);
#pragma unroll
    for (int i = 0; i < value_products; ++i) o[i][2 * half] = o[i][2 * half + 1] = 0.0f;
#pragma unroll 1
    for (int part = 0; part < parts; ++part) {
      const States state = states.from(part);
      const float2 top = state.tops[row];
      const float weight = weight_of(top.x, factor, base);
      sum = fmaf(top.y, weight, sum);
      const float2* values =
          reinterpret_cast<const float2*>(state.values + row * state_pitch + first_column(consumer));
#pragma unroll
      for (int i = 0; i < value_products; ++i) {
        const float2 pair = values[4 * i];
        o[i][2 * half] = fmaf(pair.x, weight, o[i][2 * half]);
        o[i][2 * half + 1] = fmaf(pair.y, weight, o[i][2 * half + 1]);
      }
    }
    rows.largest[half] = largest;
    rows.sum[half] = sum;
  }
}
