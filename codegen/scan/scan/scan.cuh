#pragma once
#if flags
#  include "scan/scan/flags.cuh"
#elif offsets
#  include "scan/scan/offsets.cuh"
#endif
#include "scan/scan/look_back.cuh"
#include "scan/scan/tile.cuh"
// A row's tiles in turn by its threads, or each by a block.

#if !segmented
struct Heads {
  __device__ __forceinline__ Heads(const Arguments&, const Problem&, const Span&, unsigned*) {}
};
#endif

#if kernel == rows
// Shared memory has a slot for each warp, twice: what is left for one tile is read while the next one is
// scanned. Marks of heads follow.
__device__ __forceinline__ void scan_rows(const Arguments& arguments) {
  constexpr int rows_per_block = Schedule::threads / row_threads;
  const Problem problem(arguments);
  // Threads beyond the last row take part in the block's barriers.
  const long long row = static_cast<long long>(blockIdx.x) * rows_per_block + threadIdx.x / row_threads;
  const bool exists = row < problem.rows;
#  if skewed
  const int skew = exists ? static_cast<int>(row * problem.ldx % width) : 0;
  const long long columns = exists ? problem.columns + skew : 0;
  const Element* x = arguments.x + (exists ? row * problem.ldx - skew : 0);
  Result* y = arguments.y + (exists ? row * problem.ldy - skew : 0);
#  else
  const long long columns = exists ? problem.columns : 0;
  const Element* x = arguments.x + (exists ? row * problem.ldx : 0);
  Result* y = arguments.y + (exists ? row * problem.ldy : 0);
#  endif
  Slot* slots = dynamic_shared<Slot>();
#  if skewed
  const int most_skew = rows_per_block == 1 ? skew : width - 1;  // the most of the block's rows
  const long long tiles = (problem.columns + most_skew + tile_elements - 1) / tile_elements;
#  else
  const long long tiles = (problem.columns + tile_elements - 1) / tile_elements;
#  endif
  Carry before = nothing();
  for (long long tile = 0; tile < tiles; ++tile) {
#  if skewed
    const Span span = skewed_tile_span(columns, skew, tile);
#  else
    const Span span = tile_span(columns, tile);
#  endif
    const Heads heads(arguments, problem, span, reinterpret_cast<unsigned*>(slots + Problem::first_mark));
    Part part(x, span, heads);
#  if init
    part.first = first_number(arguments);
#  endif
    if constexpr (row_threads > 32) {
      const Warps warps = join_warps(part.total(), slots + tile % 2 * (Schedule::threads / 32));
      part.store(y, span, Join()(before, warps.before));
      before = Join()(before, warps.total);
    } else {
      part.store(y, span, before);
      before = Join()(before, part.total());
    }
  }
}
#else
// Shared memory has slots for the ticket, for what precedes the tile, and for each warp. Marks of heads
// follow.
__device__ __forceinline__ void scan_tile(const Arguments& arguments) {
  const Problem problem(arguments);
  Slot* slots = dynamic_shared<Slot>();
  unsigned long long* counter = static_cast<unsigned long long*>(arguments.workspace);
  if (threadIdx.x == 0) slots[0].ticket = draw_tile(counter, gridDim.x);
  __syncthreads();
  const TileTicket ticket = slots[0].ticket;
  const unsigned tiles = static_cast<unsigned>((problem.columns + tile_elements - 1) / tile_elements);
#  if one_row
  const unsigned row = 0, tile = ticket.tile;
#  else
  const unsigned row = ticket.tile / tiles, tile = ticket.tile % tiles;
#  endif
  const Span span = tile_span(problem.columns, tile);
  const Heads heads(arguments, problem, span, reinterpret_cast<unsigned*>(slots + Problem::first_mark));
  Part part(arguments.x + row * problem.ldx, span, heads);
#  if init
  part.first = first_number(arguments);
#  endif
  const Warps warps = join_warps(part.total(), slots + 2);
  if (threadIdx.x < 32) {
    const LookBack words = LookBack::of_row(counter + 2, row, tiles, ticket.epoch);
    if (threadIdx.x == 0) words.publish(tile, warps.total);
    const Carry before = words.preceding(tile, warps.total);
    if (threadIdx.x == 0) slots[1].carry = before;
  }
  __syncthreads();
  part.store(arguments.y + row * problem.ldy, span, Join()(slots[1].carry, warps.before));
}
#endif
