#pragma once
#include "attention/attention_decode/request.cuh"
#include "attention/attention_decode/states.cuh"
#include "cuda/numbers.cuh"
#include "cuda/tickets.cuh"
// Which rows and which keys a block has, and how the parts of a row become its result. A part's keys follow
// from the request's own length alone, and parts are added in order: a request has the same bits in any
// batch.

// Rows of a block. Row i is query i / group of the group's head i % group.
struct BlockRows {
  int request;
  int head;  // of k and v
  int first;
  int count;   // that there are
  int number;  // of the part that the block has of their keys
  int index;   // of the rows among those of all blocks

  // Blocks with the same keys follow each other.
  __device__ __forceinline__ explicit BlockRows(const Problem& problem) {
    const int all = problem.queries * problem.group, tiles = (all + Schedule::rows - 1) / Schedule::rows;
    const int tile = blockIdx.x % tiles, served = blockIdx.x / tiles / Schedule::splits;
    number = blockIdx.x / tiles % Schedule::splits;
    request = served / problem.kv_heads;
    head = served % problem.kv_heads;
    first = tile * Schedule::rows;
    count = min(Schedule::rows, all - first);
    index = served * tiles + tile;
  }

  __device__ __forceinline__ int query_of(const Problem& problem, int row) const {
    return (first + row) / problem.group;
  }
  __device__ __forceinline__ int head_of(const Problem& problem, int row) const {
    return head * problem.group + (first + row) % problem.group;
  }
  __device__ __forceinline__ const Problem::Element* q(const Arguments& arguments, const Problem& problem,
                                                       int row) const {
    return arguments.q + request * problem.stride_q_b + query_of(problem, row) * problem.stride_q_s +
           head_of(problem, row) * problem.stride_q_h;
  }
};

// Keys that some row of the block sees, from `begin` on, up to the one before `end`. Parts end between tiles,
// or where the request's keys do.
struct Part {
  int count;  // of parts
  int begin;
  int end;

  __device__ __forceinline__ Part(const Problem& problem, const Sequence& sequence, const BlockRows& rows,
                                  int tile_keys) {
    const int first = sequence.first_key(rows.query_of(problem, 0));
    const int last = sequence.keys_end(rows.query_of(problem, rows.count - 1));
    const int tiles = (max(0, last - first) + tile_keys - 1) / tile_keys;
    const int tiles_of_part = max(Schedule::part_tiles, (tiles + Schedule::splits - 1) / Schedule::splits);
    count = max(1, (tiles + tiles_of_part - 1) / tiles_of_part);
    begin = first + rows.number * tiles_of_part * tile_keys;
    end = min(last, begin + tiles_of_part * tile_keys);
  }
};

#if head_scales
// From products of codes, of whose keys all have one scale.
__device__ __forceinline__ void scale_products(Scores& scores, float key_scale) {
#  if softcap
  scores.inner *= key_scale;
#  else
  scores.factor *= key_scale;
#  endif
}
#endif

// Adds states and stores the rows.
__device__ __forceinline__ void store_rows(const Arguments& arguments, const Problem& problem,
                                           const BlockRows& rows, const States& states, int count,
                                           float factor, float* weights) {
  add_states(
      states, count, rows.count, factor, weights,
      [&](int row, float largest, float sum) {
        const int head = rows.head_of(problem, row);
        const RowEnd ended = end_of_row(arguments, largest, sum, factor, head);
#if lse
        const long long of_request = rows.request * static_cast<long long>(problem.heads);
        if (threadIdx.x % 32 == 0)
          arguments.lse[(of_request + head) * problem.queries + rows.query_of(problem, row)] = ended.lse;
#endif
        return ended.factor;
      },
      [&](int row, int column, float4 values) {
        Problem::Element* o = arguments.o + rows.request * problem.stride_o_b +
                              rows.query_of(problem, row) * problem.stride_o_s +
                              rows.head_of(problem, row) * problem.stride_o_h + column;
        const float own[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (column + i < columns) o[i] = from_float<Problem::Element>(own[i]);
      });
}

// Stores the rows of `count` states in shared memory, or leaves their sum for the last block of the rows' to
// finish, which stores those of all parts. `weights` are in shared memory, too.
__device__ __forceinline__ void finish_part(const Arguments& arguments, const Problem& problem,
                                            const BlockRows& rows, const Part& part, const States& states,
                                            int count, float factor, float* weights) {
  __syncthreads();
#if splits > 1
  if (part.count > 1) {
    const States partials =
        States(arguments.partials, gridDim.x).from(rows.index * static_cast<long long>(Schedule::splits));
    const States own = partials.from(rows.number);
    add_states(
        states, count, rows.count, factor, weights,
        [&](int row, float largest, float sum) {
          if (threadIdx.x % 32 == 0) own.tops[row] = make_float2(largest, sum);
          return 1.0f;
        },
        [&](int row, int column, float4 values) {
          *reinterpret_cast<float4*>(own.values + row * state_pitch + column) = values;
        });
    if (!is_last_block(static_cast<int*>(arguments.workspace) + rows.index, part.count)) return;
    store_rows(arguments, problem, rows, partials, part.count, factor, weights);
    return;
  }
#endif
  store_rows(arguments, problem, rows, states, count, factor, weights);
}
