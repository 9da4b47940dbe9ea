#pragma once
#include "attention/attention/scores.cuh"
#include "attention/attention_backward/seeing_queries.cuh"
#if segmented
#  include "attention/attention/packed_tiles.cuh"
#endif
#if ranged
#  include "attention/fragments/extremes.cuh"
#endif
// Gradients are computed by two kinds of pass. One has queries, and goes through the keys that they see: it
// adds up dq. The other one has keys, and goes through the queries that see them, of all heads that share
// them: it adds up dk and dv. In either, a block has a tile of its own rows, and goes through tiles of
// others.
//
// Both multiply alike. Rows are those of two matrices, q and dout or k and v: products of the first ones of
// both sides are scores, those of the second ones are gradients of weights.

using Element = Problem::Element;

// Rows of statistics of a head. Tiles of them that begin at multiples of 8 of a sequence's are copied as a
// whole.
__device__ __forceinline__ int padded_rows(const Problem& problem) {
#if segmented
  return (problem.queries + 135) / 8 * 8 + 8 * problem.sequences;
#else
  return (problem.queries + 135) / 8 * 8;
#endif
}

#if segmented
// The first row of statistics of one of several sequences, whose queries begin with `query_base`.
__device__ __forceinline__ int padded_place(int query_base, int sequence) {
  return query_base / 8 * 8 + 8 * sequence;
}
#endif

// The rows of a block, of a head of them. The others that any of them meets go from `begin`, a multiple of
// `aligned`, to the one before `end`. Of packed sequences, `row` is less than 0 where there is no tile.
struct OwnRows {
  int batch;  // along the axis b; 0 of packed sequences
  int head;
  int row;
  int begin;
  int end;
#if segmented
  int index;  // of the sequence
  Sequence sequence;
#endif
};

__device__ __forceinline__ Sequence sequence_of(const Arguments& arguments, const Problem& problem,
                                                const OwnRows& own) {
#if segmented
  return own.sequence;
#else
  return Sequence(arguments, problem, own.batch);
#endif
}

// The number of the block's sequence.
__device__ __forceinline__ int index_of(const OwnRows& own) {
#if segmented
  return own.index;
#else
  return own.batch;
#endif
}

// Where the statistics of a head of the block's sequence begin.
__device__ __forceinline__ long long statistics_of(const Problem& problem, const OwnRows& own, int head) {
  const long long first = (static_cast<long long>(own.batch) * problem.heads + head) * padded_rows(problem);
#if segmented
  return first + padded_place(own.sequence.query_base, own.index);
#else
  return first;
#endif
}

template <bool of_keys>
struct Pass {
  static __device__ __forceinline__ int rows(const Sequence& sequence) {
    return of_keys ? sequence.keys : sequence.queries;
  }
  static __device__ __forceinline__ int heads(const Problem& problem) {
    return of_keys ? problem.heads / problem.group : problem.heads;
  }
  // Heads of others that a head of own rows meets.
  static __device__ __forceinline__ int heads_met(const Problem& problem) {
    return of_keys ? problem.group : 1;
  }

  // The first other row that a row meets, and the one behind the last.
  static __device__ __forceinline__ int begin(const Sequence& sequence, int row) {
    return of_keys ? first_query(sequence, row) : sequence.first_key(row);
  }
  static __device__ __forceinline__ int end(const Sequence& sequence, int row) {
    return of_keys ? queries_end(sequence, row) : sequence.keys_end(row);
  }

  // The tile of a block. Heads are taken in groups, whose other rows L2 should hold; of a group, the tiles
  // that meet the most come first. Packed sequences come in their order.
  template <int tile_rows, int heads_together, int aligned = 8>
  static __device__ __forceinline__ OwnRows tile(const Arguments& arguments, const Problem& problem,
                                                 int index) {
    const int all_heads = problem.all_heads / problem.heads * heads(problem);
#if segmented
    const int of_head = most_tiles<tile_rows>(problem, of_keys ? problem.keys : problem.queries);
#else
    const Sequence sequence(arguments, problem, 0);
    const int of_head = (rows(sequence) + tile_rows - 1) / tile_rows;
#endif
    const int of_group = heads_together * of_head;
    const int group = index / of_group, place = index % of_group;
    const int together = min(heads_together, all_heads - group * heads_together);
    const int number = place / together, head = group * heads_together + place % together;
#if segmented
    const Found found = find_tile<tile_rows, of_keys>(arguments, problem, number);
    const Sequence sequence(arguments, problem, found.sequence);
    const int row = found.number * tile_rows, last = min(row + tile_rows, rows(sequence)) - 1;
    return {0,       head, row, begin(sequence, row) / aligned * aligned, end(sequence, last), found.sequence,
            sequence};
#else
    const bool last_first = Problem::bounded_right && !of_keys;
    const int row = (last_first ? of_head - 1 - number : number) * tile_rows;
    const int last = min(row + tile_rows, rows(sequence)) - 1;
    return {head / heads(problem), head % heads(problem), row, begin(sequence, row) / aligned * aligned,
            end(sequence, last)};
#endif
  }
};

// Of a lane's two rows, the others that they meet.
template <bool of_keys>
struct MetRows {
  int begin[2];
  int end[2];

  __device__ __forceinline__ MetRows(const Sequence& sequence, int row) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      begin[half] = Pass<of_keys>::begin(sequence, row + 8 * half);
      end[half] = Pass<of_keys>::end(sequence, row + 8 * half);
    }
  }
};

// Of some neighbouring rows, which others all of them meet, and which any.
template <bool of_keys>
struct Cuts {
  int whole_from, whole_to, met_from, met_to;

  __device__ __forceinline__ Cuts(const Sequence& sequence, int row, int rows)
      : whole_from(Pass<of_keys>::begin(sequence, row + rows - 1)),
        whole_to(Pass<of_keys>::end(sequence, row)),
        met_from(Pass<of_keys>::begin(sequence, row)),
        met_to(Pass<of_keys>::end(sequence, row + rows - 1)) {}

  // Whether some row does not meet some of the others that begin with `first`.
  __device__ __forceinline__ bool cut(int first, int others) const {
    return first < whole_from || first + others > whole_to;
  }
  __device__ __forceinline__ bool met(int first, int others) const {
    return first < met_to && first + others > met_from;
  }
};

// The logarithm of the sum of a query's weights, to base 2, and its δ. Statistics of a row that sees no key,
// or that is not there, have it weigh nothing.
struct Statistics {
  float shift;
  float delta;

  static __device__ __forceinline__ Statistics none() { return {infinity(), 0.0f}; }
};

// Those of the queries that a lane's sums belong to: its own two rows ...
template <bool of_keys>
class StatisticsOf {
 public:
  __device__ __forceinline__ StatisticsOf(const Arguments& arguments, const Problem& problem,
                                          const OwnRows& own, int row) {
    const Sequence sequence = sequence_of(arguments, problem, own);
    const long long first = statistics_of(problem, own, own.head);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long at = first + row + 8 * half;
      own_[half] = row + 8 * half < sequence.queries ? Statistics{arguments.shifts[at], arguments.deltas[at]}
                                                     : Statistics::none();
    }
  }

  __device__ __forceinline__ StatisticsOf of_tile(const float*) const { return *this; }
  __device__ __forceinline__ float shift(int product, int half, int place) const { return own_[half].shift; }
  __device__ __forceinline__ float delta(int product, int half, int place) const { return own_[half].delta; }

 private:
  Statistics own_[2];
};

// ... or, in a pass that has keys, its columns of a tile, whose shifts are in shared memory, and then their
// deltas.
template <>
class StatisticsOf<true> {
 public:
  __device__ __forceinline__ StatisticsOf(const Arguments&, const Problem&, const OwnRows&, int) {}

  __device__ __forceinline__ StatisticsOf of_tile(const float* shifts) const { return StatisticsOf(shifts); }
  __device__ __forceinline__ float shift(int product, int half, int place) const {
    return at(shifts_, product, place);
  }
  __device__ __forceinline__ float delta(int product, int half, int place) const {
    return at(shifts_ + Schedule::tile_queries, product, place);
  }

 private:
  __device__ __forceinline__ explicit StatisticsOf(const float* shifts) : shifts_(shifts) {}
  static __device__ __forceinline__ float at(const float* tile, int product, int place) {
    const float2 pair = reinterpret_cast<const float2*>(tile)[4 * product + threadIdx.x % 4];
    return place == 0 ? pair.x : pair.y;
  }

  const float* shifts_ = nullptr;
};

// What gradients of scores are multiplied by, because scores are bent: only with a softcap or a fragment.
template <int products>
struct Slopes {
#if softcap || scored
  float of[products][4];
#endif
};
#if scored || masked

// Which pairs a lane's sums are of.
template <bool of_keys>
struct PairPlaces {
  int batch, head;  // of q, as fragments have them
  int row;          // the first of the lane's two rows
  int other;        // the first of its others

  __device__ __forceinline__ PairPlaces(const OwnRows& own, int group, int met_head, int lane_row, int first)
      : batch(index_of(own)),
        head(of_keys ? own.head * group + met_head : own.head),
        row(lane_row),
        other(first + threadIdx.x % 4 * 2) {}

  __device__ __forceinline__ int query(int product, int j) const {
    return of_keys ? other + 8 * product + j % 2 : row + 8 * (j / 2);
  }
  __device__ __forceinline__ int key(int product, int j) const {
    return of_keys ? row + 8 * (j / 2) : other + 8 * product + j % 2;
  }
};
#endif
#if masked

// What the mask is for `rows` of a block's head from `row` on, and `others` of a head that it meets.
template <bool of_keys>
__device__ __forceinline__ Problem::Chance chance_of(const Arguments& arguments, const Problem& problem,
                                                     const OwnRows& own, int met_head, int row, int rows,
                                                     int other, int others) {
#  if segmented
  const int queries = own.sequence.queries, keys = own.sequence.keys;
#  else
  const int queries = problem.queries, keys = problem.keys;
#  endif
  const int own_count = of_keys ? keys : queries, other_count = of_keys ? queries : keys;
  const Problem::Range of_own = {row, min(row + rows, own_count) - 1};
  const Problem::Range of_others = {other, min(other + others, other_count) - 1};
  const int head = of_keys ? own.head * problem.group + met_head : own.head;
  return Problem::chance(arguments, index_of(own), head, of_keys ? of_others : of_own,
                         of_keys ? of_own : of_others);
}
#endif

// Scores become weights. Of each product of 16 rows and 8 others, a lane has two neighbours in row lane / 4
// of the warp's 16, and two in the row 8 below (tensor_core.cuh).
#if scored || masked
template <int products, typename OfQueries, typename Places>
__device__ __forceinline__ void weigh(float (&scores)[products][4], Slopes<products>& slopes,
                                      const Scores& scale, const OfQueries& statistics,
                                      const Places& places) {
#else
template <int products, typename OfQueries>
__device__ __forceinline__ void weigh(float (&scores)[products][4], Slopes<products>& slopes,
                                      const Scores& scale, const OfQueries& statistics) {
#endif
#pragma unroll
  for (int i = 0; i < products; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#if scored || masked
      const int query = places.query(i, j), key = places.key(i, j);
      const float logit = scale.logit(scores[i][j], places.batch, places.head, query, key);
#else
      const float logit = scale.logit(scores[i][j]);
#endif
#if scored
      slopes.of[i][j] =
          Problem::slope_of(scale.scale * scores[i][j], *scale.given, places.batch, places.head, query, key);
#endif
      scores[i][j] = exp2_flushed(fmaf(logit, scale.factor, -statistics.shift(i, j / 2, j % 2)));
#if softcap
      slopes.of[i][j] = fmaf(-logit, logit, 1.0f);
#endif
    }
  }
}

// Gradients of weights become those of scores.
template <int products, typename OfQueries>
__device__ __forceinline__ void differentiate(float (&gradients)[products][4],
                                              const float (&weights)[products][4],
                                              const Slopes<products>& slopes, const OfQueries& statistics) {
#pragma unroll
  for (int i = 0; i < products; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      gradients[i][j] = weights[i][j] * (gradients[i][j] - statistics.delta(i, j / 2, j % 2));
#if softcap || scored
      gradients[i][j] *= slopes.of[i][j];
#endif
#if scored || masked
      if (weights[i][j] == 0.0f) gradients[i][j] = 0.0f;  // where a fragment has no number
#endif
    }
  }
}

// Pairs that do not meet contribute nothing.
template <bool of_keys, int products>
__device__ __forceinline__ void mask_unmet(float (&weights)[products][4], float (&gradients)[products][4],
                                           const MetRows<of_keys>& met, int first) {
  const int own = first + threadIdx.x % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int begin = met.begin[half] - own, end = met.end[half] - own;
#pragma unroll
    for (int i = 0; i < products; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int other = 8 * i + j;
        if (other < begin || other >= end) weights[i][2 * half + j] = gradients[i][2 * half + j] = 0.0f;
      }
    }
  }
}

__device__ __forceinline__ float scale_of(const Arguments& arguments) {
  return arguments.scale == 0.0f ? static_cast<float>(Problem::usual_scale) : arguments.scale;
}
