#pragma once
#include "attention/attention_decode/parts.cuh"
#include "cuda/packed.cuh"
#include "cuda/shared_memory.cuh"
// Attention of a few rows with keys and values in a cache, by fused multiply-adds. `lanes` neighbouring lanes
// have a key and its value together, of which each has some vectors; with them they multiply all rows of the
// block. Each such group has sums of its own, which are added at the end.

using Element = Problem::Element;

constexpr int lanes = Schedule::lanes, rows = Schedule::rows, width = Schedule::vector_width;
constexpr int groups = Schedule::threads / lanes;
constexpr int tile_keys = groups * Schedule::keys_in_flight;
constexpr int warps = Schedule::threads / 32;
constexpr int key_vectors = Problem::head_dim / width, value_vectors = Problem::value_dim / width;
constexpr int own_keys = (key_vectors + lanes - 1) / lanes;  // vectors of a thread
constexpr int own_values = (value_vectors + lanes - 1) / lanes;

// Vectors of a thread, of a head with `vectors`; zeros where there is none.
template <int own, int vectors, typename Number>
__device__ __forceinline__ void load_head(Packed<Number, width> (&target)[own], const Number* source,
                                          bool there) {
#pragma unroll
  for (int i = 0; i < own; ++i) {
    const int vector = i * lanes + static_cast<int>(threadIdx.x) % lanes;
#pragma unroll
    for (int j = 0; j < width; ++j) target[i].elements[j] = Number{};
    if (there && vector < vectors) target[i] = load_global<width, false>(source + vector * width);
  }
}

// The rows of a group of lanes, as far as it has added keys. All lanes have the same `largest` and `sum`.
struct GroupRows {
  float largest[rows];
  float sum[rows];
  float values[rows][own_values][width];

  __device__ __forceinline__ GroupRows() {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      largest[row] = -infinity();
      sum[row] = 0.0f;
#pragma unroll
      for (int i = 0; i < own_values; ++i) {
#pragma unroll
        for (int j = 0; j < width; ++j) values[row][i][j] = 0.0f;
      }
    }
  }

  __device__ __forceinline__ void rescale(int row, float kept) {
    sum[row] *= kept;
#pragma unroll
    for (int i = 0; i < own_values; ++i) {
#pragma unroll
      for (int j = 0; j < width; ++j) values[row][i][j] *= kept;
    }
  }

  // Adds the rows of the other groups of the warp, always in the same tree.
  __device__ __forceinline__ void add_groups_of_warp(float factor) {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      float top = largest[row];
#pragma unroll
      for (int step = lanes; step < 32; step *= 2)
        top = max_nan(top, __shfl_xor_sync(0xffffffffu, top, step));
      rescale(row, kept_of(largest[row], factor, base_of(top, factor)));
      largest[row] = top;
#pragma unroll
      for (int step = lanes; step < 32; step *= 2) {
        sum[row] += __shfl_xor_sync(0xffffffffu, sum[row], step);
#pragma unroll
        for (int i = 0; i < own_values; ++i) {
#pragma unroll
          for (int j = 0; j < width; ++j)
            values[row][i][j] += __shfl_xor_sync(0xffffffffu, values[row][i][j], step);
        }
      }
    }
  }

  // By the first group of a warp; `scale` is that of all values.
  __device__ __forceinline__ void store(const States& state, float scale) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      if (lane == 0) state.tops[row] = make_float2(largest[row], sum[row]);
#pragma unroll
      for (int i = 0; i < own_values; ++i) {
        const int vector = i * lanes + lane;
        if (lane >= lanes || vector >= value_vectors) continue;
#pragma unroll
        for (int j = 0; j < width; ++j)
          state.values[row * state_pitch + vector * width + j] = scale * values[row][i][j];
      }
    }
  }
};

// Queries of all rows of the block, of which a thread has some vectors, and the keys that they see.
struct Queries {
  float values[rows][own_keys][width];
  int begin[rows];
  int end[rows];

  __device__ __forceinline__ Queries(const Arguments& arguments, const Problem& problem,
                                     const BlockRows& block) {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      Packed<Element, width> loaded[own_keys];
      load_head<own_keys, key_vectors>(loaded, block.q(arguments, problem, row), row < block.count);
#pragma unroll
      for (int i = 0; i < own_keys; ++i) to_floats(values[row][i], loaded[i].elements);
    }
  }

  __device__ __forceinline__ void bound(const Problem& problem, const Sequence& sequence,
                                        const BlockRows& block) {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const int query = block.query_of(problem, row);
      begin[row] = sequence.first_key(query);
      end[row] = sequence.keys_end(query);
    }
  }
};

// The logit of a row and a key of this scale, in all lanes of the group; -infinity if the row does not see
// it.
__device__ __forceinline__ float logit_of(const Queries& queries, int row,
                                          const Packed<Stored, width> (&loaded)[own_keys], float scale,
                                          int key, const Scores& scores) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < own_keys; ++i) {
    float elements[width];
    stored_to_floats(elements, loaded[i]);
#pragma unroll
    for (int j = 0; j < width; ++j) sum = fmaf(queries.values[row][i][j], elements[j], sum);
  }
  const float logit = scores.logit(scale * reduce_lanes<lanes>(sum, Sum()));
  const bool seen = key >= queries.begin[row] && key < queries.end[row];
  return seen ? logit : -infinity();
}

// Attention of rows of a block with some of the keys that they see.
__device__ __forceinline__ void attend_part(const Arguments& arguments, const Problem& problem, Scores scores,
                                            const BlockRows& block, const Sequence& sequence,
                                            const Part& part) {
  constexpr int loads = Schedule::keys_in_flight;
  Queries queries(arguments, problem, block);
  const CachedKeys cached(arguments, problem, block.request, block.head);
  float scale_of_values = 1.0f;
#if head_scales
  scale_products(scores, *cached.key_scale_at(problem, {}));
  scale_of_values = *cached.value_scale_at(problem, {});
#endif
  queries.bound(problem, sequence, block);
  GroupRows sums;
  const int group = threadIdx.x / lanes;
#pragma unroll 1
  for (int base = part.begin; base < part.end; base += tile_keys) {
    Packed<Stored, width> keys[loads][own_keys], values[loads][own_values];
    float key_scales[loads], value_scales[loads];
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      const int key = base + load * groups + group;
      const bool there = key < part.end;
      const CachePlace place = there ? cached.place_of(problem, key) : CachePlace{0, 0};
      load_head<own_keys, key_vectors>(keys[load], cached.key_at(problem, place), there);
      load_head<own_values, value_vectors>(values[load], cached.value_at(problem, place), there);
      key_scales[load] = value_scales[load] = 1.0f;
#if token_scales
      if (there) {
        key_scales[load] = *cached.key_scale_at(problem, place);
        value_scales[load] = *cached.value_scale_at(problem, place);
      }
#endif
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      float weights[loads], top = sums.largest[row];
#pragma unroll
      for (int load = 0; load < loads; ++load) {
        const int key = base + load * groups + group;
        weights[load] = logit_of(queries, row, keys[load], key_scales[load], key, scores);
        top = max_nan(top, weights[load]);
      }
      const float top_base = base_of(top, scores.factor);
      sums.rescale(row, kept_of(sums.largest[row], scores.factor, top_base));
      sums.largest[row] = top;
#pragma unroll
      for (int load = 0; load < loads; ++load) {
        const float weight = weight_of(weights[load], scores.factor, top_base);
        const float scaled = weight * value_scales[load];
        sums.sum[row] += weight;
#pragma unroll
        for (int i = 0; i < own_values; ++i) {
          float elements[width];
          stored_to_floats(elements, values[load][i]);
#pragma unroll
          for (int j = 0; j < width; ++j)
            sums.values[row][i][j] = fmaf(scaled, elements[j], sums.values[row][i][j]);
        }
      }
    }
  }
  sums.add_groups_of_warp(scores.factor);
  const States states(dynamic_shared<float>(), warps);
  sums.store(states.from(threadIdx.x / 32), scale_of_values);
  finish_part(arguments, problem, block, part, states, warps, scores.factor,
              reinterpret_cast<float*>(states.from(warps).tops));
}

__device__ __forceinline__ void decode_fma_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
  for_each_part<tile_keys>(arguments, problem,
                           [&](const BlockRows& rows, const Sequence& sequence, const Part& part) {
                             attend_part(arguments, problem, scores, rows, sequence, part);
                           });
}
