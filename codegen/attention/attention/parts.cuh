#pragma once
#include "attention/attention/online_softmax.cuh"
#include "attention/attention_decode/part_sums.cuh"
// Keys of a tile of queries that several blocks share: each leaves what its part makes of the rows, and a
// launch behind them adds that up in the order of the parts.

// Of a row: the largest logit, the sum of weights, and the sums of values.
constexpr int state_floats = Problem::value_dim + 2;

// The tile of block `index`, with its part of the keys, from the first ones on that a mask may let it see;
// there may be none left.
template <int rows, int packed = 1>
__device__ __forceinline__ Tile part_at(const Arguments& arguments, const Problem& problem, int index,
                                        int together) {
  Tile tile = tile_at<rows, packed>(arguments, problem, index / Schedule::splits, together);
  const int tiles = (max(0, tile.end - tile.begin) + Schedule::tile_keys - 1) / Schedule::tile_keys;
  const int keys = (tiles + Schedule::splits - 1) / Schedule::splits * Schedule::tile_keys;
  tile.begin += index % Schedule::splits * keys;
  tile.end = min(tile.end, tile.begin + keys);
#if masked
  while (tile.begin < tile.end && !chance_of(arguments, problem, tile, tile.query, rows, tile.begin).holds)
    tile.begin += Schedule::tile_keys;
#endif
  return tile;
}

// Leaves the sums of a tile's row `row` and the one 8 below, of those that are there.
template <int packed = 1, int products>
__device__ __forceinline__ void leave_rows(const Arguments& arguments, const Problem& problem,
                                           const float (&o)[products][4], const RowPair& rows,
                                           const Tile& tile, int row) {
  const Sequence sequence = sequence_of(arguments, problem, tile);
  const int place = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = reduce_lanes<4>(rows.sum[half], Sum());
    const RowPlace at = place_of<packed>(tile, row + 8 * half);
    const int own = sequence.query_base + at.query;
    if (at.query >= sequence.queries) continue;
    const int number = (tile.batch * problem.queries + own) * problem.heads + at.head;
    const int part = blockIdx.x % Schedule::splits, all = problem.queries * problem.all_heads;
    float* state = arguments.partials + (part * all + number) * state_floats;
    if (place == 0) {
      state[0] = rows.largest[half];
      state[1] = sum;
    }
#pragma unroll
    for (int i = 0; i < products; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = 8 * i + 2 * place + j;
        if (column < Problem::value_dim) state[2 + column] = o[i][2 * half + j];
      }
    }
  }
}

struct RowSums {
  float largest;
  float sum;
  float value;  // of one column
};

// A column of a row, of all parts in their order. States of a part are those of `rows` rows.
__device__ __forceinline__ RowSums add_parts(const float* states, int rows, int row, int column,
                                             float factor) {
  RowSums all = {-infinity(), 0.0f, 0.0f};
  const float* first = states + row * state_floats;
  const int step = rows * state_floats;
  for (int i = 0; i < Schedule::splits; ++i) all.largest = max_nan(all.largest, first[i * step]);
  const float base = base_of(all.largest, factor);
  for (int i = 0; i < Schedule::splits; ++i) {
    const float* state = first + i * step;
    const float weight = kept_of(state[0], factor, base);
    all.sum = fmaf(state[1], weight, all.sum);
    all.value = fmaf(state[2 + column], weight, all.value);
  }
  return all;
}

constexpr int sums_threads = 256;

// A thread adds the parts of a column of a row.
__device__ __forceinline__ void attention_sums_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
  const int index = blockIdx.x * sums_threads + threadIdx.x, rows = problem.queries * problem.all_heads;
  const int row = index / Problem::value_dim, column = index % Problem::value_dim;
  if (row >= rows) return;
  const int head = row % problem.heads, query = row / problem.heads % problem.queries;
  const int batch = row / problem.heads / problem.queries;
  const RowSums sums = add_parts(arguments.partials, rows, row, column, scores.factor);
  const RowEnd ended = end_of_row(arguments, sums.largest, sums.sum, scores.factor, head);
  arguments.o[batch * problem.stride_o_b + query * problem.stride_o_s + head * problem.stride_o_h + column] =
      from_float<Problem::Element>(sums.value * ended.factor);
#if lse
  const long long of_head = static_cast<long long>(batch) * problem.heads + head;
  if (column == 0) arguments.lse[of_head * problem.queries + query] = ended.lse;
#endif
}
