#pragma once
#include "attention/attention/online_softmax.cuh"
#include "attention/attention/wgmma/stages.cuh"
#if pingpong
#  include "cuda/named_barrier.cuh"
#endif
// The warpgroups that multiply. While a tile of keys is multiplied, the weights of the one before are
// multiplied with their values; while these products go on, the new scores become weights.

using KeySums = float[key_products][4];
using ValueSums = float[value_products][4];

// Issues the products of the consumer's queries with a stage of keys.
__device__ __forceinline__ void multiply_keys(KeySums& s, int consumer, int stage) {
  const unsigned long long queries =
      matrix_descriptor<row_bytes>(Stages::queries_of(consumer), 0, group_bytes);
  const unsigned long long keys = matrix_descriptor<row_bytes>(Stages::keys(stage), 0, group_bytes);
  wgmma_fence(s);
#pragma unroll
  for (int step = 0; step < key_steps; ++step) {
    constexpr int of_box = row_bytes / product_bytes;
    const int box = step / of_box, within = step % of_box * product_bytes;
    wgmma(reinterpret_cast<float (&)[4 * key_products]>(s), advanced(queries, box * query_box_bytes + within),
          advanced(keys, box * key_box_bytes + within), step > 0);
  }
  wgmma_commit();
}

// Issues the products of weights with a stage of values.
__device__ __forceinline__ void multiply_values(ValueSums& o, const unsigned (&p)[value_steps][4],
                                                int stage) {
  const unsigned long long values =
      matrix_descriptor<row_bytes>(Stages::values(stage), key_box_bytes, group_bytes);
  wgmma_fence(o);
#pragma unroll
  for (int step = 0; step < value_steps; ++step)
    wgmma(reinterpret_cast<float (&)[4 * value_products]>(o), p[step],
          advanced(values, step * product_k * row_bytes), 1);
  wgmma_commit();
}

__device__ __forceinline__ void release(Barrier& empty) {
  if (threadIdx.x % 32 == 0) empty.arrive();
}

// Consumers issue products in turn, so that one's softmax goes on beside another's products.
struct Order {
  int consumer;

  __device__ __forceinline__ void begin() const {
#if pingpong
    if (consumer == Schedule::consumers - 1) arrive(0);
#endif
  }
  __device__ __forceinline__ void wait() const {
#if pingpong
    named_barrier(1 + consumer, 2 * warpgroup_threads);
#endif
  }
  __device__ __forceinline__ void pass_on() const {
#if pingpong
    arrive(consumer + 1 == Schedule::consumers ? 0 : consumer + 1);
#endif
  }

 private:
  static __device__ __forceinline__ void arrive(int next) {
#if pingpong
    named_barrier_arrive(1 + next, 2 * warpgroup_threads);
#endif
  }
};

// What the rows of a consumer see of a tile of keys.
class Cuts {
 public:
  __device__ __forceinline__ Cuts(const Sequence& sequence, int first, int last)
      : whole_from_(sequence.first_key(last)), whole_to_(sequence.keys_end(first)) {}

  // Whether some row does not see some key of the tile that begins with one.
  __device__ __forceinline__ bool cut(int key) const {
    return key + Schedule::tile_keys > whole_to_ || (Problem::bounded_left && key < whole_from_);
  }

 private:
  int whole_from_;
  int whole_to_;
};

// Scores become weights.
__device__ __forceinline__ void weigh(KeySums& s, RowPair& rows, const Scores& scores, const Cuts& cuts,
                                      const SeenKeys& seen, int key, float (&kept)[2]) {
  apply_softcap(s, scores);
  if (cuts.cut(key)) mask_unseen(s, seen, key);
  add_weights(s, rows, scores.factor, kept);
}

// What a consumer keeps from one tile to the next.
struct Consumer {
  int number;
  Turn<Schedule::stages> keys;
  Turn<Schedule::stages> values;

  // That of the block's queries which has this consumer's.
  __device__ __forceinline__ int part() const { return Schedule::queries_apart ? number : 0; }

  // The first of this thread's two rows among those of a tile.
  __device__ __forceinline__ int row() const {
    const int warp = threadIdx.x % warpgroup_threads / 32;
    return number * consumer_rows + warp * 16 + threadIdx.x % 32 / 4;
  }
};

#if scored || masked
// Scores of keys from `key` on become those of fragments, unless a mask lets all of the consumer's queries
// see all of them.
__device__ __forceinline__ void change_scores(KeySums& s, const Arguments& arguments, const Problem& problem,
                                              const Scores& scores, const Tile& tile, const Consumer& own,
                                              int key) {
#  if !scored
  const int query = tile.query + own.number * consumer_rows;
  if (!chance_of(arguments, problem, tile, query, consumer_rows, key).fails) return;
#  endif
  apply_fragments<packed>(s, scores, sequence_of(arguments, problem, tile), tile, own.row(), key);
}
#endif

#if queries_apart
// Of a tile of which the consumer has no rows: it takes its turns, and gives back what the others read.
__device__ __forceinline__ void sit_out(const Arguments& arguments, const Problem& problem, Stages& stages,
                                        const Tile& tile, Consumer& own) {
  const Order order{own.number};
  Turn<Schedule::stages>&keys = own.keys, &values = own.values;
  release(stages.queries_empty[own.part()]);
#  pragma unroll 1
  for (int key = tile.begin; key < tile.end; key += Schedule::tile_keys) {
#  if masked
    if (key > tile.begin && !may_see(arguments, problem, tile, key)) continue;
#  endif
    stages.keys_full[keys.stage()].wait(keys.parity());
    order.wait();
    order.pass_on();
    release(stages.keys_empty[keys.stage()]);
    keys.advance();
    stages.values_full[values.stage()].wait(values.parity());
    release(stages.values_empty[values.stage()]);
    values.advance();
  }
}
#endif

// Of a tile whose queries are there.
__device__ __forceinline__ void attend(const Arguments& arguments, const Problem& problem, Stages& stages,
                                       const Scores& scores, const Tile& tile, Consumer& own) {
  const int first_row = own.number * consumer_rows, row = own.row();
  const auto query = [&](int of_row) { return place_of<packed>(tile, of_row).query; };
  const Sequence sequence = sequence_of(arguments, problem, tile);
#if queries_apart
  if (query(first_row) >= sequence.queries) return sit_out(arguments, problem, stages, tile, own);
#endif
  const Order order{own.number};
  Turn<Schedule::stages>&keys = own.keys, &values = own.values;
  RowPair rows;
  ValueSums o = {};
  unsigned p[value_steps][4];
  const SeenKeys seen(sequence, query(row), query(row + 8));
  const Cuts cuts(sequence, query(first_row), query(first_row + consumer_rows - 1));
  // Queries are read no more behind the products with the last keys; which ones a mask leaves is not known
  // ahead.
  const auto release_queries = [&](int key) {
#if !masked
    if (key + Schedule::tile_keys >= tile.end) release(stages.queries_empty[own.part()]);
#endif
  };
  if (tile.begin < tile.end) {
    float kept[2];
    {
      KeySums s;
      stages.keys_full[keys.stage()].wait(keys.parity());
      order.wait();
      multiply_keys(s, own.number, keys.stage());
      order.pass_on();
      wgmma_wait<0>(s);
      release(stages.keys_empty[keys.stage()]);
      release_queries(tile.begin);
      keys.advance();
#if scored || masked
      change_scores(s, arguments, problem, scores, tile, own, tile.begin);
#endif
      weigh(s, rows, scores, cuts, seen, tile.begin, kept);
      round_weights(p, s);
    }
#pragma unroll 1
    for (int key = tile.begin + Schedule::tile_keys; key < tile.end; key += Schedule::tile_keys) {
#if masked
      if (!may_see(arguments, problem, tile, key)) continue;
#endif
      KeySums s;
      stages.keys_full[keys.stage()].wait(keys.parity());
      order.wait();
      multiply_keys(s, own.number, keys.stage());
#if rescale_late
      rescale(o, kept);
#endif
      stages.values_full[values.stage()].wait(values.parity());
      multiply_values(o, p, values.stage());
      order.pass_on();
      wgmma_wait<1>(s);
      release(stages.keys_empty[keys.stage()]);
      release_queries(key);
      keys.advance();
#if scored || masked
      change_scores(s, arguments, problem, scores, tile, own, key);
#endif
      weigh(s, rows, scores, cuts, seen, key, kept);
      wgmma_wait<0>(o);
      release(stages.values_empty[values.stage()]);
      values.advance();
      round_weights(p, s);
#if !rescale_late
      rescale(o, kept);
#endif
    }
#if masked
    release(stages.queries_empty[own.part()]);
#endif
    stages.values_full[values.stage()].wait(values.parity());
#if rescale_late
    rescale(o, kept);
#endif
    multiply_values(o, p, values.stage());
    wgmma_wait<0>(o);
    release(stages.values_empty[values.stage()]);
    values.advance();
  } else {
    release(stages.queries_empty[own.part()]);
  }
#if splits > 1
  leave_rows<packed>(arguments, problem, o, rows, tile, row);
#else
  store_rows<packed>(arguments, problem, o, rows, scores.factor, tile, row);
#endif
}

__device__ __forceinline__ void consume(const Arguments& arguments, const Problem& problem, Stages& stages) {
  const Scores scores(arguments);
  // Told by one lane, the number is the same in a warp for the compiler, too, and so are branches by what is
  // read with it: else they count as divergent, and the code around products grows by half.
  Consumer own{__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warpgroup_threads, 0) - 1, {}, {}};
  Order{own.number}.begin();
#if grid_blocks == 0
  const Tile tile = tile_at(arguments, problem, blockIdx.x);
#  if segmented
  if (tile.query < 0) return;
#  endif
  stages.queries_full[own.part()].wait(0);
  attend(arguments, problem, stages, scores, tile, own);
#else
  unsigned parity = 0;  // of queries that are there
#  pragma unroll 1
  while (true) {
    stages.queries_full[own.part()].wait(parity);
    parity ^= 1;
    const Tile tile = stages.tile[own.part()];
    __syncwarp();  // all lanes know it when one of them says that it is read
    if (tile.query < 0) break;
    attend(arguments, problem, stages, scores, tile, own);
  }
#endif
}
