#pragma once
#include "attention/attention/online_softmax.cuh"
#include "attention/attention_decode/parts.cuh"
#include "cuda/packed.cuh"
#include "cuda/products.cuh"
#include "cuda/shared_memory.cuh"
// Attention of 16 rows with keys and values in a cache, by the tensor cores of warps, each of which has keys
// of its own. Lanes load what they multiply, eight neighbouring elements at a time: a product stays the same
// if columns of one operand and rows of the other change places alike. With quad = lane / 4 and place =
// lane % 4,
//
// - of 32 elements of a head of q and k, a lane has eight from 8·place on, of rows quad and quad + 8, and of
// the keys quad of each eight: in one product it multiplies the first four, in the next one the others;
// - of 64 columns of values, a lane has eight from 8·quad on, of the keys 2·place, 2·place + 1, and of those
// 8 behind: product i of eight has their columns i.

using Element = Problem::Element;

constexpr int warps = Schedule::threads / 32;
constexpr int tile_keys = warps * Schedule::warp_keys;
constexpr int key_tiles = Schedule::warp_keys / 16;
constexpr int products = Schedule::warp_keys / 8;  // along keys
constexpr int chunks = (Problem::head_dim + 31) / 32;
constexpr int column_groups = (Problem::value_dim + 63) / 64;

// Eight elements of a head from `first` on; zeros behind its last one, and where nothing is there.
template <int elements>
__device__ __forceinline__ void load_eight(unsigned (&words)[4], const Element* head, int first, bool there) {
  constexpr int width = Schedule::vector_width;
  Packed<Element, 8> loaded;
  loaded.bits = make_uint4(0u, 0u, 0u, 0u);
#pragma unroll
  for (int i = 0; i < 8; i += width) {
    if (there && first + i < elements) {
      const Packed<Element, width> part = load_global<width, false>(head + first + i);
#pragma unroll
      for (int j = 0; j < width; ++j) loaded.elements[i + j] = part.elements[j];
    }
  }
  words[0] = loaded.bits.x, words[1] = loaded.bits.y, words[2] = loaded.bits.z, words[3] = loaded.bits.w;
}

// Rows quad and quad + 8 of the block.
struct OwnRows {
  unsigned q[chunks][2][4];

  __device__ __forceinline__ OwnRows(const Arguments& arguments, const Problem& problem, const Part& part) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = lane / 4 + 8 * half, number = part.first_row + row;
      const int query = number / problem.group, head = part.head * problem.group + number % problem.group;
      const Element* of_row = arguments.q + part.request * problem.stride_q_b + query * problem.stride_q_s +
                              head * problem.stride_q_h;
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
        load_eight<Problem::head_dim>(q[chunk][half], of_row, 32 * chunk + lane % 4 * 8, row < part.rows);
    }
  }
};

// Keys that rows quad and quad + 8 see, of the block's part.
__device__ __forceinline__ SeenKeys seen_of(const Problem& problem, const Sequence& sequence,
                                            const Part& part) {
  SeenKeys seen(sequence, 0);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = (part.first_row + static_cast<int>(threadIdx.x) % 32 / 4 + 8 * half) / problem.group;
    seen.begin[half] = sequence.first_key(query);
    seen.end[half] = sequence.keys_end(query);
  }
  return seen;
}

using KeyWords = unsigned[products][chunks][4];
using ValueWords = unsigned[key_tiles][column_groups][4][4];
using ValueSums = float[8 * column_groups][4];

__device__ __forceinline__ void load_keys(KeyWords& words, const Problem& problem, const CachedKeys& cached,
                                          int first, int end) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < products; ++i) {
    const int key = first + 8 * i + lane / 4;
    const bool there = key < end;
    const CachePlace place = there ? cached.place_of(problem, key) : CachePlace{0, 0};
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk)
      load_eight<Problem::head_dim>(words[i][chunk], cached.key_at(problem, place), 32 * chunk + lane % 4 * 8,
                                    there);
  }
}

__device__ __forceinline__ void load_values(ValueWords& words, const Problem& problem,
                                            const CachedKeys& cached, int first, int end) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int tile = 0; tile < key_tiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = first + 16 * tile + lane % 4 * 2 + i % 2 + i / 2 * 8;
      const bool there = key < end;
      const CachePlace place = there ? cached.place_of(problem, key) : CachePlace{0, 0};
#pragma unroll
      for (int group = 0; group < column_groups; ++group)
        load_eight<Problem::value_dim>(words[tile][group][i], cached.value_at(problem, place),
                                       64 * group + lane / 4 * 8, there);
    }
  }
}

__device__ __forceinline__ void multiply_keys(float (&s)[products][4], const OwnRows& own,
                                              const KeyWords& keys) {
#pragma unroll
  for (int i = 0; i < products; ++i) {
    s[i][0] = s[i][1] = s[i][2] = s[i][3] = 0.0f;
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll
      for (int word = 0; word < 4; word += 2) {
        const unsigned (&q)[2][4] = own.q[chunk];
        const unsigned a[4] = {q[0][word], q[1][word], q[0][word + 1], q[1][word + 1]};
        const unsigned b[2] = {keys[i][chunk][word], keys[i][chunk][word + 1]};
        add_product_anywhere<Element>(s[i], a, b);
      }
    }
  }
}

// Number `column` of eight of two keys.
__device__ __forceinline__ unsigned pair_of_keys(const unsigned (&first)[4], const unsigned (&second)[4],
                                                 int column) {
  const unsigned a = first[column / 2], b = second[column / 2];
  return __byte_perm(a, b, column % 2 == 0 ? 0x5410 : 0x7632);
}

__device__ __forceinline__ void multiply_values(ValueSums& o, const unsigned (&p)[key_tiles][4],
                                                const ValueWords& values) {
#pragma unroll
  for (int tile = 0; tile < key_tiles; ++tile) {
#pragma unroll
    for (int group = 0; group < column_groups; ++group) {
      const unsigned (&words)[4][4] = values[tile][group];
#pragma unroll
      for (int column = 0; column < 8; ++column) {
        const unsigned b[2] = {pair_of_keys(words[0], words[1], column),
                               pair_of_keys(words[2], words[3], column)};
        add_product_anywhere<Element>(o[8 * group + column], p[tile], b);
      }
    }
  }
}

// Leaves what a warp has of all rows.
__device__ __forceinline__ void store_state(float* state, const ValueSums& o, const RowPair& rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float* target = state + (lane / 4 + 8 * half) * state_floats;
    const float sum = reduce_lanes<4>(rows.sum[half], Sum());
    if (lane % 4 == 0) {
      target[0] = rows.largest[half];
      target[1] = sum;
    }
#pragma unroll
    for (int i = 0; i < 8 * column_groups; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = i / 8 * 64 + (lane % 4 * 2 + j) * 8 + i % 8;
        if (column < Problem::value_dim) target[2 + column] = o[i][2 * half + j];
      }
    }
  }
}

__device__ __forceinline__ void decode_mma_sync_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
  // Blocks with the same keys follow each other.
  const int tiles = (problem.queries * problem.group + Schedule::rows - 1) / Schedule::rows;
  const int tile = blockIdx.x % tiles, number = blockIdx.x / tiles % Schedule::splits;
  const int served = blockIdx.x / tiles / Schedule::splits, request = served / problem.kv_heads;
  const Sequence sequence = sequence_of_request(arguments, problem, request);
  const Part part(arguments, problem, sequence, request, served % problem.kv_heads, tile, number, tile_keys);
  if (number >= part.count) return;
  const CachedKeys cached(arguments, problem, request, part.head);
  const OwnRows own(arguments, problem, part);
  const SeenKeys seen = seen_of(problem, sequence, part);
  ValueSums o = {};
  RowPair rows;
  const int warp = threadIdx.x / 32;
#pragma unroll 1
  for (int key = part.begin + warp * Schedule::warp_keys; key < part.end; key += tile_keys) {
    KeyWords keys;
    ValueWords values;
    load_keys(keys, problem, cached, key, part.end);
    load_values(values, problem, cached, key, part.end);
    float s[products][4], kept[2];
    unsigned p[key_tiles][4];
    multiply_keys(s, own, keys);
    apply_softcap(s, scores);
    mask_unseen(s, seen, key);
    add_weights(s, rows, scores.factor, kept);
    rescale(o, kept);
    round_weights(p, s);
    multiply_values(o, p, values);
  }
  float* states = dynamic_shared<float>();
  store_state(states + warp * Schedule::rows * state_floats, o, rows);
  __syncthreads();
  finish_part(arguments, problem, part, states, warps, served * tiles + tile, scores.factor);
}
