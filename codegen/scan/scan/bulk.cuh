#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tensor_copy.cuh"
#include "cuda/tensor_store.cuh"
#include "cuda/tile_tickets.cuh"
#include "scan/scan/look_back.cuh"
#include "scan/scan/staged_tile.cuh"
// Blocks that stay, and have several tiles under way in shared memory, where bulk copies bring elements to
// and take results from. While a tile waits for what precedes it, the next one is summed, and others are
// being copied. Four warps beside those that scan draw and copy tiles, publish their sums, look back, and
// store results. Every block takes its tiles in order: the first tile that nobody has published is never
// behind one that waits for it.

#include "scan/scan/bulk_pipeline.cuh"

struct BulkScan {
  explicit __device__ __forceinline__ BulkScan(const Arguments& arguments)
      : arguments(arguments),
        problem(arguments),
        tiles_of_row(static_cast<unsigned>((problem.columns + tile_elements - 1) / tile_elements)),
        tiles(static_cast<unsigned>(problem.rows) * tiles_of_row),
        counter(static_cast<unsigned long long*>(arguments.workspace)),
        pipeline(*dynamic_shared<Pipeline>()),
        lane(threadIdx.x % 32) {}

  __device__ __forceinline__ void run() {
    if (threadIdx.x == 0) pipeline.init();
    __syncthreads();
    const int warp = threadIdx.x / 32;
    if (warp < scan_warps) {
      scan();
    } else if (warp == scan_warps) {
      copy();
    } else if (warp == scan_warps + 1) {
      publish();
    } else if (warp == scan_warps + 2) {
      look_back();
    } else {
      store();
    }
  }

  struct Sums {
    TileTicket ticket;
    Carry before;  // the thread's first vector, in its warp
  };

  __device__ __forceinline__ bool exists(TileTicket ticket) const { return ticket.tile < tiles; }
#if one_row
  __device__ __forceinline__ unsigned row_of(TileTicket) const { return 0; }
  __device__ __forceinline__ unsigned tile_of(TileTicket ticket) const { return ticket.tile; }
#else
  // Rows in turn, so that what precedes a tile has often been published.
  __device__ __forceinline__ unsigned row_of(TileTicket ticket) const { return ticket.tile % rows(); }
  __device__ __forceinline__ unsigned tile_of(TileTicket ticket) const { return ticket.tile / rows(); }
  __device__ __forceinline__ unsigned rows() const { return static_cast<unsigned>(problem.rows); }
#endif
  __device__ __forceinline__ TileSpan span(TileTicket ticket) const {
#if reverse
    return span_of(problem.columns, tiles_of_row - 1 - tile_of(ticket));
#else
    return span_of(problem.columns, tile_of(ticket));
#endif
  }
  __device__ __forceinline__ LookBack words_of(TileTicket ticket) const {
    return LookBack::of_row(counter + 2, row_of(ticket), tiles_of_row, ticket.epoch);
  }

  __device__ __forceinline__ TileTicket draw() const {
    TileTicket ticket;
    if (lane == 0) ticket = draw_tile(counter, tiles + gridDim.x);
    return from_lane<32>(ticket, 0);
  }
#if offsets

  // Of the offsets, the first one in a tile or behind it.
  __device__ __forceinline__ long long first_offset(TileTicket ticket) const {
    return count_below(arguments.offsets, problem.segments + 1, StagedHeads::lowest(span(ticket)));
  }
#endif

  // Fills tiles in the order of their tickets, until there is none left. What needs no room is done before a
  // tile is empty.
  __device__ __forceinline__ void copy() {
    for (unsigned step = 0;; ++step) {
      const TileTicket ticket = draw();
#if offsets
      const long long begin = first_offset(ticket);
#endif
      const int stage = stage_of(step);
      StagedTile& tile = pipeline.tiles[stage];
      Barrier& filled = pipeline.filled[stage];
      pipeline.emptied[stage].wait(parity_of(step, Schedule::stages) ^ 1);
      if (lane == 0) pipeline.tickets[stage] = ticket;
      if (!exists(ticket)) {
#if odd_end || segmented
        if (lane == 0) filled.arrive();
#endif
        if (lane == 0) filled.arrive();
        return;
      }
      const TileSpan span = this->span(ticket);
      const Element* source = arguments.x + row_of(ticket) * problem.ldx + span.first;
      const int bytes = bulk_bytes<Element>(span.count);
#if flags
      const int flags = StagedHeads::count(span), flag_bytes = bulk_bytes<unsigned char>(flags);
#else
      constexpr int flag_bytes = 0;
#endif
      if (lane == 0) {
        filled.arrive_and_expect(bytes + flag_bytes);
        if (bytes > 0) bulk_copy(tile.elements, source, bytes, filled);
#if flags
        if (flag_bytes > 0) bulk_copy(tile.heads.flags, arguments.flags + span.first, flag_bytes, filled);
#endif
      }
#if odd_end
      copy_rest(tile.elements, source, span.count);
#endif
#if flags
      copy_rest(tile.heads.flags, arguments.flags + span.first, flags);
#elif offsets
      tile.heads.mark(arguments.offsets, begin, problem.segments + 1, span);
#endif
#if odd_end || segmented
      proxy_fence();  // later copies overwrite what was written
      __syncwarp();
      if (lane == 0) filled.arrive();
#endif
    }
  }

  __device__ __forceinline__ void publish() {
    for (unsigned step = 0;; ++step) {
      const TileTicket ticket = pipeline.wait_for_tile(step);
      if (!exists(ticket)) return;
      const Carry own = pipeline.sum_of_warps(step, scan_warps);
      __syncwarp();  // all lanes have read
      if (lane == 0) {
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
      if (lane == 0) {
        pipeline.before[step % 2] = before;
        pipeline.preceded[step % 2].arrive();
      }
    }
  }

  __device__ __forceinline__ void scan() {
    Sums sums = sum(0);
    for (unsigned step = 0; exists(sums.ticket); ++step) {
      const Sums next = sum(step + 1);
      scan(step, sums);
      sums = next;
    }
  }

  __device__ __forceinline__ static bool is_whole(const TileSpan& span) {
    return span.count == tile_elements;
  }

  __device__ __forceinline__ static Carry sum_of_thread(const StagedTile& tile, const TileSpan& span,
                                                        bool whole) {
    Carry own = nothing();
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      own = Join()(own, StagedVector(tile, span, staged_offset(round), whole).carry());
    }
    return own;
  }

  // What precedes a thread in its warp; the sum of the warp is left for the others.
  __device__ __forceinline__ Sums sum(unsigned step) {
    Sums sums;
    sums.ticket = pipeline.wait_for_tile(step);
    if (!exists(sums.ticket)) return sums;
    const TileSpan span = this->span(sums.ticket);
    const StagedTile& tile = pipeline.tiles[stage_of(step)];
    const Carry own = is_whole(span) ? sum_of_thread(tile, span, true) : sum_of_thread(tile, span, false);
    const Carry inclusive = scan_lanes<32>(own, Join());
    sums.before = shift_lanes<32>(inclusive, nothing());
    if (lane == 31) {
      pipeline.sums[step % 4][threadIdx.x / 32] = inclusive;
      pipeline.summed[step % 2].arrive();
    }
    return sums;
  }

  // `running` precedes the thread's first vector.
  __device__ __forceinline__ static void scan_thread(StagedTile& tile, const TileSpan& span, Number running,
                                                     Number first, bool whole) {
#pragma unroll
    for (int round = 0; round < Schedule::rounds; ++round) {
      const int offset = staged_offset(round);
      const StagedVector vector(tile, span, offset, whole);
      put_results(tile, span, offset, vector.scanned(running, first), whole);
    }
  }

  // Puts the results of a tile in shared memory.
  __device__ __forceinline__ void scan(unsigned step, const Sums& sums) {
    const Carry of_warps = from_lane<32>(pipeline.sum_of_warps(step, threadIdx.x / 32), 0);
    pipeline.preceded[step % 2].wait(parity_of(step, 2));
    const Number first = first_number(arguments);
    Number running = Join()(Join()(pipeline.before[step % 2], of_warps), sums.before).number;
#if init
    running = combine(first, running);
#endif
    const TileSpan span = this->span(sums.ticket);
    StagedTile& tile = pipeline.tiles[stage_of(step)];
    if (is_whole(span)) {
      scan_thread(tile, span, running, first, true);
    } else {
      scan_thread(tile, span, running, first, false);
    }
    proxy_fence();
    __syncwarp();
    if (lane == 0) pipeline.scanned[stage_of(step)].arrive();
  }

  // Results on their way to global memory, and tiles that are free again.
  __device__ __forceinline__ void store() {
    for (unsigned step = 0;; ++step) {
      const TileTicket ticket = pipeline.wait_for_tile(step);
      if (!exists(ticket)) return;
      const TileSpan span = this->span(ticket);
      const int stage = stage_of(step);
      const Result* results = pipeline.tiles[stage].results_begin();
      Result* target = arguments.y + row_of(ticket) * problem.ldy + span.first;
      pipeline.scanned[stage].wait(parity_of(step, Schedule::stages));
      const int bytes = bulk_bytes<Result>(span.count);
      if (lane == 0 && bytes > 0) {
        bulk_store(target, results, bytes);
        store_commit();
      }
      copy_rest(target, results, span.count);
      __syncwarp();
      if (lane == 0) {
        store_wait_read<0>();
        pipeline.emptied[stage].arrive();
      }
    }
  }

  const Arguments& arguments;
  const Problem problem;
  const unsigned tiles_of_row, tiles;
  unsigned long long* const counter;
  Pipeline& pipeline;
  const int lane;
};

__device__ __forceinline__ void scan_in_bulk(const Arguments& arguments) { BulkScan(arguments).run(); }
