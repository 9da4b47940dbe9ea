#pragma once
#include "attention/attention/scores.cuh"
#include "attention/attention/tile_order.cuh"
#include "cuda/hyperbolic_tangent.cuh"
#include "cuda/number_pairs.cuh"
#include "cuda/row_reduce.cuh"
#if stored_vector == 8
#  include "cuda/transpose_words.cuh"
#endif
// Online softmax of scores that tensor cores leave in registers: of each product of 16 rows and 8 keys, a
// lane has two neighbours in row lane / 4 of the warp's 16, and two in the row 8 below (tensor_core.cuh).

// A lane's two rows, as far as keys have been added.
struct RowPair {
  float largest[2] = {-infinity(), -infinity()};  // logit of all lanes
  float sum[2] = {};                              // of weights of this lane's keys
};

// Of two rows, the keys that they see: from `begin` on, up to the one before `end`.
struct SeenKeys {
  int begin[2];
  int end[2];

  __device__ __forceinline__ SeenKeys(const Sequence& sequence, int query)
      : SeenKeys(sequence, query, query + 8) {}
  __device__ __forceinline__ SeenKeys(const Sequence& sequence, int first, int second)
      : begin{sequence.first_key(first), sequence.first_key(second)},
        end{sequence.keys_end(first), sequence.keys_end(second)} {}
};

// Products become logits. By powers and reciprocals, tanh takes 15 to 16 % more time.
template <int products>
__device__ __forceinline__ void apply_softcap(float (&s)[products][4], const Scores& scores) {
#if softcap
#  pragma unroll
  for (int i = 0; i < products; ++i) {
#  pragma unroll
    for (int j = 0; j < 4; ++j) s[i][j] = rough_tanh(scores.inner * s[i][j]);
  }
#endif
}

#if scored || masked
// Products of keys from `first` on with a tile's row `row` and the one 8 below become logits.
template <int packed = 1, int products>
__device__ __forceinline__ void apply_fragments(float (&s)[products][4], const Scores& scores,
                                                const Sequence& sequence, const Tile& tile, int row,
                                                int first) {
  const int key = first + threadIdx.x % 4 * 2;
#  pragma unroll
  for (int i = 0; i < products; ++i) {
#  pragma unroll
    for (int j = 0; j < 4; ++j) {
      const RowPlace at = place_of<packed>(tile, row + 8 * (j / 2));
      s[i][j] = scores.logit(s[i][j], sequence.number, at.head, at.query, key + 8 * i + j % 2);
    }
  }
}
#endif

// Logits of keys from `first` on that a row does not see become -infinity.
template <int products>
__device__ __forceinline__ void mask_unseen(float (&s)[products][4], const SeenKeys& seen, int first) {
  const int own = first + threadIdx.x % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int begin = seen.begin[half] - own, end = seen.end[half] - own;
#pragma unroll
    for (int i = 0; i < products; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int key = 8 * i + j;
#if bounded_left
        if (key < begin || key >= end) s[i][2 * half + j] = -infinity();
#else
        if (key >= end) s[i][2 * half + j] = -infinity();
#endif
      }
    }
  }
}

#if rescale_rarely
constexpr float most_growth = 8.0f;  // of weights, as a power of 2, until sums are rescaled
#endif

// Logits become weights, which are added to the sums of the rows; `kept` gets what of the sums before is
// left.
template <int products>
__device__ __forceinline__ void add_weights(float (&s)[products][4], RowPair& rows, float factor,
                                            float (&kept)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float top = rows.largest[half];
#pragma unroll
    for (int i = 0; i < products; ++i) top = max_nan(top, max_nan(s[i][2 * half], s[i][2 * half + 1]));
    top = reduce_lanes<4>(top, Max());
#if rescale_rarely
    if ((top - rows.largest[half]) * factor <= most_growth) top = rows.largest[half];
#endif
    const float base = base_of(top, factor);
    kept[half] = kept_of(rows.largest[half], factor, base);
    rows.largest[half] = top;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < products; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float& weight = s[i][2 * half + j];
        weight = weight_of(weight, factor, base);
        sum += weight;
      }
    }
    rows.sum[half] = fmaf(rows.sum[half], kept[half], sum);
  }
}

// Sums of values keep what of them is left.
template <int products>
__device__ __forceinline__ void rescale(float (&o)[products][4], const float (&kept)[2]) {
#if rescale_rarely
  if (!__any_sync(0xffffffffu, kept[0] != 1.0f || kept[1] != 1.0f)) return;
#endif
#pragma unroll
  for (int i = 0; i < products; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) o[i][j] *= kept[j / 2];
  }
}

// Weights of each 16 keys as an operand of products with their values.
template <int products>
__device__ __forceinline__ void round_weights(unsigned (&p)[products / 2][4], const float (&s)[products][4]) {
#pragma unroll
  for (int i = 0; i < products / 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float (&pair)[4] = s[2 * i + j / 2];
      p[i][j] = pair_of<Problem::Element>(pair[j % 2 * 2], pair[j % 2 * 2 + 1]);
    }
  }
}

// Divides the sums of a tile's row `row` and the one 8 below, and stores those that are there.
template <int packed = 1, int products>
__device__ __forceinline__ void store_rows(const Arguments& arguments, const Problem& problem,
                                           float (&o)[products][4], const RowPair& rows, float factor,
                                           const Tile& tile, int row) {
  using Element = Problem::Element;
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const int place = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = reduce_lanes<4>(rows.sum[half], Sum());
    const RowPlace at = place_of<packed>(tile, row + 8 * half);
    const RowEnd ended = end_of_row(arguments, rows.largest[half], sum, factor, at.head);
    const int own = sequence.query_base + at.query;
    const bool there = at.query < sequence.queries;
    Element* target = arguments.o + tile.batch * problem.stride_o_b + own * problem.stride_o_s +
                      at.head * problem.stride_o_h;
#if stored_vector == 8
    // Of each four products, a lane gets all of one from the others of its four.
    constexpr int whole = products / 4 * 4;
#  pragma unroll
    for (int i = 0; i < whole; i += 4) {
      unsigned words[4];
#  pragma unroll
      for (int j = 0; j < 4; ++j)
        words[j] = pair_of<Element>(o[i + j][2 * half] * ended.factor, o[i + j][2 * half + 1] * ended.factor);
      transpose_words(words);
      if (there)
        *reinterpret_cast<uint4*>(target + 8 * (i + place)) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
#else
    constexpr int whole = 0;
#endif
#pragma unroll
    for (int i = whole; i < products; ++i) {
      const float first = o[i][2 * half] * ended.factor, second = o[i][2 * half + 1] * ended.factor;
      const int column = 8 * i + 2 * place;
#if stored_vector > 1
      if (there && column < Problem::value_dim)
        *reinterpret_cast<unsigned*>(target + column) = pair_of<Element>(first, second);
#else
      if (there && column < Problem::value_dim) target[column] = from_float<Element>(first);
      if (there && column + 1 < Problem::value_dim) target[column + 1] = from_float<Element>(second);
#endif
    }
#if lse
    const long long of_head = static_cast<long long>(tile.batch) * problem.heads + at.head;
    if (there && place == 0) arguments.lse[of_head * problem.queries + own] = ended.lse;
#endif
  }
}
