#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/tile_tickets.cuh"
#include "scan/scan/look_back.cuh"
#include "scan/scan/span.cuh"
// Blocks that stay, and have several tiles under way. While a tile waits for what precedes it, the next one
// is summed, and others are being copied, so that neither the memory nor the tiles behind wait for it. Three
// warps beside those that scan draw and copy tiles, publish their sums, and look back. Every block takes its
// tiles in order: the first tile that nobody has published is never behind one that waits for it.

constexpr int scan_warps = Schedule::threads / 32;

// A step is a tile of a block.
__device__ __forceinline__ int stage_of(unsigned step) { return step % Schedule::stages; }
__device__ __forceinline__ unsigned parity_of(unsigned step, int uses) { return step / uses % 2; }

// Behind the tiles in shared memory.
struct Pipeline {
  Barrier filled[Schedule::stages], emptied[Schedule::stages];
  Barrier summed[2];    // the sums of all warps are there
  Barrier preceded[2];  // they were published, and what precedes the tile is there
  TileTicket tickets[Schedule::stages];
  Carry before[2];
  Carry sums[4][scan_warps];  // a warp may sum three steps ahead of one that still reads them

  __device__ __forceinline__ void init() {
    for (int stage = 0; stage < Schedule::stages; ++stage) {
      filled[stage].init(1);
      emptied[stage].init(scan_warps);
    }
    for (int i = 0; i < 2; ++i) {
      summed[i].init(scan_warps);
      preceded[i].init(2);
    }
    proxy_fence();
  }

  // The tile of a step, once it is filled.
  __device__ __forceinline__ TileTicket wait_for_tile(unsigned step) {
    filled[stage_of(step)].wait(parity_of(step, Schedule::stages));
    return tickets[stage_of(step)];
  }

  // In lane 0 of a warp, the sum of the first `warps` warps, once all are there.
  __device__ __forceinline__ Carry sum_of_warps(unsigned step, int warps) {
    summed[step % 2].wait(parity_of(step, 2));
    const int lane = threadIdx.x % 32;
    return fold_lanes(lane < warps ? sums[step % 4][lane] : nothing(), Join());
  }
};

struct TileScan {
  explicit __device__ __forceinline__ TileScan(const Arguments& arguments)
      : arguments(arguments),
        problem(arguments),
        tiles_of_row(static_cast<unsigned>((problem.columns + tile_elements - 1) / tile_elements)),
        tiles(static_cast<unsigned>(problem.rows) * tiles_of_row),
        elements(dynamic_shared<Element>()),
        pipeline(*reinterpret_cast<Pipeline*>(elements + Schedule::stages * tile_elements)) {}

  __device__ __forceinline__ void run() {
    if (threadIdx.x == 0) pipeline.init();
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp < scan_warps) {
      scan();
    } else if (warp == scan_warps) {
      if (lane == 0) copy();
    } else if (warp == scan_warps + 1) {
      publish();
    } else {
      look_back();
    }
  }

  struct Sums {
    TileTicket ticket;
    Carry of_rounds[Schedule::rounds];
  };

  __device__ __forceinline__ bool exists(TileTicket ticket) const { return ticket.tile < tiles; }
  __device__ __forceinline__ unsigned row_of(TileTicket ticket) const { return ticket.tile / tiles_of_row; }
  __device__ __forceinline__ unsigned tile_of(TileTicket ticket) const { return ticket.tile % tiles_of_row; }
  __device__ __forceinline__ Span span_of(TileTicket ticket) const {
    return tile_span(problem.columns, tile_of(ticket));
  }
  __device__ __forceinline__ LookBack words_of(TileTicket ticket) const {
    unsigned long long* counter = static_cast<unsigned long long*>(arguments.workspace);
    return LookBack::of_row(counter + 2, row_of(ticket), tiles_of_row, ticket.epoch);
  }

  // One thread's part: tiles in the order of their tickets, until there is none left.
  __device__ __forceinline__ void copy() {
    unsigned long long* counter = static_cast<unsigned long long*>(arguments.workspace);
    for (unsigned step = 0;; ++step) {
      const int stage = stage_of(step);
      Barrier& filled = pipeline.filled[stage];
      pipeline.emptied[stage].wait(parity_of(step, Schedule::stages) ^ 1);
      const TileTicket ticket = draw_tile(counter, tiles + gridDim.x);
      pipeline.tickets[stage] = ticket;
      if (!exists(ticket)) {
        filled.arrive();
        return;
      }
      const Span span = span_of(ticket);
      const Element* source = arguments.x + row_of(ticket) * problem.ldx + span.first;
      Element* target = elements + stage * tile_elements;
      int bytes = span.end * static_cast<int>(sizeof(Element));
#if odd_end
      const int copied = bytes / 16 * 16;
      for (int i = copied / static_cast<int>(sizeof(Element)); i < span.end; ++i) target[i] = source[i];
      if (copied < bytes) proxy_fence();  // a later copy overwrites them
      bytes = copied;
#endif
      filled.arrive_and_expect(bytes);
#if odd_end
      if (bytes == 0) continue;
#endif
      bulk_copy(target, source, bytes, filled);
    }
  }

  __device__ __forceinline__ void publish() {
    for (unsigned step = 0;; ++step) {
      const TileTicket ticket = pipeline.wait_for_tile(step);
      if (!exists(ticket)) return;
      const Carry own = pipeline.sum_of_warps(step, scan_warps);
      __syncwarp();  // all lanes have read
      if (threadIdx.x % 32 == 0) {
        words_of(ticket).publish(tile_of(ticket), own);
        pipeline.preceded[step % 2].arrive();
      }
    }
  }

  __device__ __forceinline__ void look_back() {
    for (unsigned step = 0;; ++step) {
      const TileTicket ticket = pipeline.wait_for_tile(step);
      if (!exists(ticket)) return;
      const Carry own = pipeline.sum_of_warps(step, scan_warps);
      const Carry before = words_of(ticket).preceding(tile_of(ticket), own);
      __syncwarp();  // all lanes have read
      if (threadIdx.x % 32 == 0) {
        pipeline.before[step % 2] = before;
        pipeline.preceded[step % 2].arrive();
      }
    }
  }

  __device__ __forceinline__ void scan() {
    Sums sums = sum(0);
    for (unsigned step = 0; exists(sums.ticket); ++step) {
      const Sums next = sum(step + 1);
      store(step, sums);
      sums = next;
    }
  }

  // Of a vector's first element in the tile. A warp has consecutive vectors.
  __device__ __forceinline__ static int offset(int round) {
    return ((threadIdx.x / 32 * Schedule::rounds + round) * 32 + threadIdx.x % 32) * width;
  }

  // A vector of a tile, of which some elements are inside.
  __device__ __forceinline__ Elements vector_of(unsigned step, int round, int inside) const {
    const Element* source = elements + stage_of(step) * tile_elements + offset(round);
    Elements vector;
    if (inside < width) {
#pragma unroll
      for (int i = 0; i < width; ++i) {
        if (i < inside) vector.elements[i] = source[i];
      }
    } else {
      vector.bits = *reinterpret_cast<const Elements::Bits*>(source);
    }
    return vector;
  }

  __device__ __forceinline__ static Number number_at(const Elements& vector, int i, int inside) {
    return i < inside ? number_of(vector.elements[i]) : identity();
  }

  // The sums of a thread's vectors; that of its warp is left for the others.
  __device__ __forceinline__ Sums sum(unsigned step) {
    Sums sums;
    sums.ticket = pipeline.wait_for_tile(step);
    if (!exists(sums.ticket)) return sums;
    const Span span = span_of(sums.ticket);
    Carry all = nothing();
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      const int inside = span.inside(offset(round));
      const Elements vector = vector_of(step, round, inside);
      Number number = number_at(vector, 0, inside);
#pragma unroll
      for (int i = 1; i < width; ++i) number = combine(number, number_at(vector, i, inside));
      sums.of_rounds[round] = {number};
      all = Join()(all, sums.of_rounds[round]);
    }
    all = fold_lanes(all, Join());
    if (threadIdx.x % 32 == 0) {
      pipeline.sums[step % 4][threadIdx.x / 32] = all;
      pipeline.summed[step % 2].arrive();
    }
    return sums;
  }

  // The results of a tile.
  __device__ __forceinline__ void store(unsigned step, const Sums& sums) {
    Carry before[Schedule::rounds];
    Carry running = nothing();
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      const Carry inclusive = scan_lanes<32>(sums.of_rounds[round], Join());
      before[round] = Join()(running, shift_lanes<32>(inclusive, nothing()));
      running = Join()(running, from_lane<32>(inclusive, 31));
    }
    const Carry of_warps = from_lane<32>(pipeline.sum_of_warps(step, threadIdx.x / 32), 0);
    pipeline.preceded[step % 2].wait(parity_of(step, 2));
#if init
    const Carry of_warp = Join()({first_number(arguments)}, Join()(pipeline.before[step % 2], of_warps));
#else
    const Carry of_warp = Join()(pipeline.before[step % 2], of_warps);
#endif
    const Span span = span_of(sums.ticket);
    Result* target = arguments.y + row_of(sums.ticket) * problem.ldy + span.first;
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      const int inside = span.inside(offset(round));
      const Elements vector = vector_of(step, round, inside);
      Number number = Join()(of_warp, before[round]).number;
      Results results;
#pragma unroll
      for (int i = 0; i < width; ++i) {
#if exclusive
        results.elements[i] = rounded(number);
#endif
        number = combine(number, number_at(vector, i, inside));
#if !exclusive
        results.elements[i] = rounded(number);
#endif
      }
      store_results(target + offset(round), results, inside);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) pipeline.emptied[stage_of(step)].arrive();
  }

  const Arguments& arguments;
  const Problem problem;
  const unsigned tiles_of_row, tiles;
  Element* const elements;
  Pipeline& pipeline;
};

__device__ __forceinline__ void scan_pipelined(const Arguments& arguments) { TileScan(arguments).run(); }
