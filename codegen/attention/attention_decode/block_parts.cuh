#pragma once
#include "attention/attention_decode/request.cuh"
#if grid_blocks
#  include "cuda/row_reduce.cuh"
#  include "cuda/warp_scan.cuh"
#endif
// Which rows and which keys a block has. Blocks of a fixed grid have equal shares of the keys of all
// requests, whatever their lengths. Or each request is cut into parts that follow from its own length alone,
// so that it has the same bits in any batch.

// Rows of a block, of which a head of k and v of a request has some tiles. Row i is query i / group of the
// group's head i % group.
struct BlockRows {
  int request;
  int head;  // of k and v
  int first;
  int count;  // that there are

  __device__ __forceinline__ BlockRows(const Problem& problem, int request, int head, int tile)
      : request(request), head(head), first(tile * Schedule::rows) {
    count = min(Schedule::rows, problem.queries * problem.group - first);
  }

  __device__ __forceinline__ int query_of(const Problem& problem, int row) const {
    return Problem::one_query ? 0 : (first + row) / problem.group;
  }
  __device__ __forceinline__ int head_of(const Problem& problem, int row) const {
    const int own = first + row;
    return head * problem.group + (Problem::one_query ? own : own % problem.group);
  }
  __device__ __forceinline__ const Problem::Element* q(const Arguments& arguments, const Problem& problem,
                                                       int row) const {
    return arguments.q + request * problem.stride_q_b + query_of(problem, row) * problem.stride_q_s +
           head_of(problem, row) * problem.stride_q_h;
  }
  __device__ __forceinline__ int first_key(const Problem& problem, const Sequence& sequence) const {
    return sequence.first_key(query_of(problem, 0));
  }
  __device__ __forceinline__ int keys_end(const Problem& problem, const Sequence& sequence) const {
    return sequence.keys_end(query_of(problem, count - 1));
  }
};

// Keys that some row of the block sees, from `begin` on, up to the one before `end`. Parts end between tiles,
// or where the request's keys do.
struct Part {
  int number;
  int count;  // of parts of the same rows
  int begin;
  int end;
  int rows;         // their number among those of all blocks
  long long first;  // the state of part 0, among all
};

// Tiles of rows of a head of k and v.
__device__ __forceinline__ int row_tiles(const Problem& problem) {
  return Problem::one_row_tile ? 1 : (problem.queries * problem.group + Schedule::rows - 1) / Schedule::rows;
}
#if grid_blocks

// Heads of k and v of all tiles of rows. Each has blocks of its own, and all have the same shares: blocks
// that follow each other read neighbouring heads of the same keys, whose elements lie side by side, at the
// same time.
__device__ __forceinline__ int grid_heads(const Problem& problem) {
  return row_tiles(problem) * problem.kv_heads;
}

// Blocks of a head, among which its keys of all requests are shared.
__device__ __forceinline__ int sharing_blocks(const Problem& problem) {
  return gridDim.x / grid_heads(problem);
}

// Of a head. Those of requests lie behind each other: each has one more than there are ends of shares within
// it.
__device__ __forceinline__ long long states_of_head(const Problem& problem) {
  return sharing_blocks(problem) + problem.batch;
}

__device__ __forceinline__ long long all_states(const Problem& problem) {
  return states_of_head(problem) * grid_heads(problem);
}

// Tiles of a request's keys in the list; one of a request without keys, whose results are stored all the
// same.
template <int tile_keys>
__device__ __forceinline__ int listed_tiles(const Problem& problem, const Sequence& sequence) {
  const int keys = sequence.keys_end(problem.queries - 1) - sequence.first_key(0);
  return max(1, (keys + tile_keys - 1) / tile_keys);
}

// What begins a request in the list, ahead of its tiles: its part waits for a length, pages and keys in turn,
// and in the end for its sums to be seen. A block with many short requests takes fewer keys for it.
constexpr int start_tiles = 4;  // that are read in this time, by an H200
constexpr int least_of_start =
    8;  // tiles of a share for each of them: where shares are short, SMs wait anyway

// A list has the tiles of keys of all requests. `attend(rows, sequence, part)` gets what a block's share of
// it has of each.
template <int tile_keys, class Attend>
__device__ __forceinline__ void for_each_part(const Arguments& arguments, const Problem& problem,
                                              Attend attend) {
  const auto tiles_of = [&](int request) {
    return listed_tiles<tile_keys>(problem, sequence_of_request(arguments, problem, request));
  };
  const int lane = threadIdx.x % 32, blocks = sharing_blocks(problem);
  const int of_grid = blockIdx.x % grid_heads(problem), block = blockIdx.x / grid_heads(problem);
  const int row_tile = of_grid % row_tiles(problem), head = of_grid / row_tiles(problem);
  int all = 0;
  for (int request = lane; request < problem.batch; request += 32) all += tiles_of(request);
  all = reduce_lanes<32>(all, Sum());
  const int start = min(start_tiles, all / (least_of_start * blocks));
  all += problem.batch * start;
  const int share = max(Schedule::part_tiles, (all + blocks - 1) / blocks);
  const int begin = block * share, end = min(begin + share, all);
  if (begin >= end) return;
  int request = -1, listed = 0, place = 0;  // what a request has of the list, and where that begins
  for (int first = 0; request < 0; first += 32) {
    const int own = first + lane < problem.batch ? start + tiles_of(first + lane) : 0;
    const int before = place + scan_lanes<32>(own, Sum()) - own;
    const unsigned begun = __ballot_sync(0xffffffffu, own > 0 && before <= begin);
    const int last = 31 - __clz(begun);  // that begins ahead of the share, or where it does
    listed = __shfl_sync(0xffffffffu, own, last);
    place = __shfl_sync(0xffffffffu, before, last);
    if (begin < place + listed) request = first + last;
    place += request < 0 ? listed : 0;
  }
  while (place + start < end) {
    const Sequence sequence = sequence_of_request(arguments, problem, request);
    const BlockRows rows(problem, request, head, row_tile);
    const int first_tile = place + start, first_block = first_tile / share;
    const int first_key = sequence.first_key(0);
    Part part;
    part.number = block - first_block;
    part.count = (place + listed - 1) / share - first_block + 1;
    part.begin =
        max(rows.first_key(problem, sequence), first_key + (max(begin, first_tile) - first_tile) * tile_keys);
    part.end = min(rows.keys_end(problem, sequence),
                   first_key + (min(end, place + listed) - first_tile) * tile_keys);
    part.rows = (request * problem.kv_heads + head) * row_tiles(problem) + row_tile;
    part.first = of_grid * states_of_head(problem) + request + first_block;
    attend(rows, sequence, part);
    place += listed;
    if (place + start >= end) return;
    listed = start + tiles_of(++request);
    __syncthreads();  // all have read what is in shared memory
  }
}
#else

__device__ __forceinline__ long long all_states(const Problem& problem) { return gridDim.x; }

// `attend(rows, sequence, part)` gets the only part of a block. Blocks with the same keys follow each other.
template <int tile_keys, class Attend>
__device__ __forceinline__ void for_each_part(const Arguments& arguments, const Problem& problem,
                                              Attend attend) {
  const int row_tile = blockIdx.x % row_tiles(problem), block = blockIdx.x / row_tiles(problem);
  const int served = block / Schedule::splits;
  const BlockRows rows(problem, served / problem.kv_heads, served % problem.kv_heads, row_tile);
  const Sequence sequence = sequence_of_request(arguments, problem, rows.request);
  const int first = rows.first_key(problem, sequence), last = rows.keys_end(problem, sequence);
  const int tiles = (max(0, last - first) + tile_keys - 1) / tile_keys;
  const int tiles_of_part = max(Schedule::part_tiles, (tiles + Schedule::splits - 1) / Schedule::splits);
  Part part;
  part.number = block % Schedule::splits;
#  if cluster
  part.count = Schedule::splits;  // all blocks of a cluster finish together, also those without keys
#  else
  part.count = max(1, (tiles + tiles_of_part - 1) / tiles_of_part);
#  endif
  part.begin = first + part.number * tiles_of_part * tile_keys;
  part.end = min(last, part.begin + tiles_of_part * tile_keys);
  part.rows = served * row_tiles(problem) + row_tile;
  part.first = part.rows * static_cast<long long>(Schedule::splits);
  if (part.number < part.count) attend(rows, sequence, part);
}
#endif
