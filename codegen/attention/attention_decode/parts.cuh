#pragma once
#include "attention/attention_decode/request.cuh"
#include "attention/attention_decode/states.cuh"
#include "cuda/numbers.cuh"
#include "cuda/tickets.cuh"
// Which rows and which keys a block has, and how the parts of a row become its result. A part's keys follow
// from the request's own length alone, and parts are added in order: a request has the same bits in any
// batch.

// Parts end between tiles, or where the request's keys do.
//
// Rows of a block, and keys from `begin` on, up to the one before `end`. Row i is query i / group of the
// group's head i % group.
struct Part {
  int request;
  int head;  // of k and v
  int first_row;
  int rows;    // that there are
  int number;  // of the part among `count`
  int count;
  int begin;
  int end;

  __device__ __forceinline__ Part(const Arguments& arguments, const Problem& problem,
                                  const Sequence& sequence, int request, int head, int tile, int number,
                                  int tile_keys)
      : request(request), head(head), first_row(tile * Schedule::rows), number(number) {
    rows = min(Schedule::rows, problem.queries * problem.group - first_row);
    const int first = sequence.first_key(0), last = sequence.keys_end(problem.queries - 1);
    const int tiles = (max(0, last - first) + tile_keys - 1) / tile_keys;
    const int tiles_of_part = (tiles + Schedule::splits - 1) / Schedule::splits;
    count = tiles == 0 ? 1 : (tiles + tiles_of_part - 1) / tiles_of_part;
    begin = first + number * tiles_of_part * tile_keys;
    end = min(last, begin + tiles_of_part * tile_keys);
  }
};

// Divides and stores column `column` of a row; that of column 0 stores the logarithm, too.
__device__ __forceinline__ void store_column(const Arguments& arguments, const Problem& problem,
                                             const Part& part, int row, int column, const RowSums& sums,
                                             float factor) {
  const int number = part.first_row + row, query = number / problem.group;
  const int head = part.head * problem.group + number % problem.group;
  const RowEnd ended = end_of_row(arguments, sums.largest, sums.sum, factor, head);
  arguments.o[part.request * problem.stride_o_b + query * problem.stride_o_s + head * problem.stride_o_h +
              column] = from_float<Problem::Element>(sums.value * ended.factor);
#if lse
  const long long of_request = part.request * static_cast<long long>(problem.heads);
  if (column == 0) arguments.lse[(of_request + head) * problem.queries + query] = ended.lse;
#endif
}

// Stores the rows of `count` states, or leaves their sum for the last block of the request's to finish, which
// stores those of all parts. `index` is that of the rows among all blocks'.
__device__ __forceinline__ void finish_part(const Arguments& arguments, const Problem& problem,
                                            const Part& part, const float* states, int count, int index,
                                            float factor) {
  constexpr int columns = Problem::value_dim;
#if splits > 1
  float* partials =
      arguments.partials + index * static_cast<long long>(Schedule::splits * Schedule::rows * state_floats);
  if (part.count > 1) {
    float* own = partials + part.number * Schedule::rows * state_floats;
    for (int i = threadIdx.x; i < part.rows * columns; i += Schedule::threads) {
      const int row = i / columns, column = i % columns;
      const RowSums sums = add_states(states, count, Schedule::rows, row, column, factor);
      float* target = own + row * state_floats;
      target[2 + column] = sums.value;
      if (column == 0) {
        target[0] = sums.largest;
        target[1] = sums.sum;
      }
    }
    if (!is_last_block(static_cast<int*>(arguments.workspace) + index, part.count)) return;
    states = partials;
    count = part.count;
  }
#endif
  for (int i = threadIdx.x; i < part.rows * columns; i += Schedule::threads) {
    const int row = i / columns, column = i % columns;
    store_column(arguments, problem, part, row, column,
                 add_states(states, count, Schedule::rows, row, column, factor), factor);
  }
}
