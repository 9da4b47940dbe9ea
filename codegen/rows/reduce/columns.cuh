#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tickets.cuh"
#include "rows/reduce/operation.cuh"
#include "rows/reduce/vectors.cuh"
#if folded
#  include "rows/reduce/folded.cuh"
#endif
// Columns: a block has a strip of them. Each of its threads takes vector_width columns, of every
// rows_per_block-th row, with the vectors of `loads_in_flight` rows on their way. Then the block's rows of
// threads combine what they have in shared memory.

constexpr int threads_per_row = Schedule::threads_per_row;
constexpr int rows_per_block = Schedule::threads / threads_per_row;
constexpr int strip = threads_per_row * vector_width;
constexpr int tile = rows_per_block * Schedule::loads_in_flight;  // rows of a step

// The partial results of a strip lie in slots. Neighbouring threads have neighbouring slots in shared and in
// global memory, rather than columns.
__device__ __forceinline__ int slot_of(int thread, int element) { return element * threads_per_row + thread; }
__device__ __forceinline__ int column_of(int slot) {
  return slot % threads_per_row * vector_width + slot / threads_per_row;
}

// A thread's vectors of a tile, of whose rows `rows` exist from its first one on, all if `whole`. `inside`
// elements of a vector are inside of the matrix.
template <bool whole>
__device__ __forceinline__ void take_tile(Partial (&partials)[vector_width], ElementPointer source,
                                          long long ldx, Index row, Index rows, Index inside) {
  Vector vectors[Schedule::loads_in_flight];
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    const bool exists = whole || load * rows_per_block < rows;
    vectors[load] = load_inside(source + load * rows_per_block * ldx, exists ? inside : 0);
  }
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    if (whole || load * rows_per_block < rows) {
#pragma unroll
      for (int i = 0; i < vector_width; ++i) {
        take(partials[i], vectors[load].elements[i], row + load * rows_per_block);
      }
    }
  }
}

// What the block makes of its part of a strip, by slots; the thread of a slot has it. Tiles go to the blocks
// of a strip in turn, which `split` numbers.
#if folded
__device__ __forceinline__ Partial* reduce_part(const Arguments& arguments, const FoldedRows& problem,
                                                long long first_column, int split) {
#else
__device__ __forceinline__ Partial* reduce_part(const Arguments& arguments, const Problem& problem,
                                                long long first_column, int split) {
#endif
  const int thread = threadIdx.x % threads_per_row, thread_row = threadIdx.x / threads_per_row;
  const long long column = first_column + thread * vector_width, columns_left = problem.columns - column;
  const Index inside = columns_left < vector_width ? columns_left : vector_width;
  const Index rows = problem.rows;
  const Index step = static_cast<Index>(Schedule::splits) * tile;
  Index first = static_cast<Index>(split) * tile;
  Partial partials[vector_width];
#pragma unroll
  for (int i = 0; i < vector_width; ++i) partials[i] = empty_partial(first + thread_row);

  ElementPointer source = elements_of(arguments) + (first + thread_row) * problem.ldx + column;
#if folded
  const long long apart = rows_per_block * problem.ldx;
  if (inside > 0) {
    for (; first + tile <= rows; first += step) {
      take_whole_vectors(partials, source, apart);
      source += step * problem.ldx;
    }
    // What is left is a tile at most, which the block whose turn it is has: others begin behind it.
    const long long place = (first + thread_row) * problem.ldx + column;
    take_last_vectors(partials, source, apart, problem.elements - place);
  }
#else
  for (; first + tile <= rows; first += step) {
    take_tile<true>(partials, source, problem.ldx, first + thread_row, 0, inside);
    source += step * problem.ldx;
  }
  const Index row = first + thread_row;
  if (row < rows) take_tile<false>(partials, source, problem.ldx, row, rows - row, inside);
#endif

  Partial* totals = dynamic_shared<Partial>();
#pragma unroll
  for (int i = 0; i < vector_width; ++i) totals[thread_row * strip + slot_of(thread, i)] = partials[i];
  __syncthreads();
  for (int slot = threadIdx.x; slot < strip; slot += Schedule::threads) {
    Partial total = totals[slot];
#pragma unroll
    for (int i = 1; i < rows_per_block; ++i) total = Combine()(total, totals[i * strip + slot]);
    totals[slot] = total;
  }
  return totals;
}

__device__ __forceinline__ void store_slot(const Arguments& arguments, const Problem& problem,
                                           long long first_column, int slot, Partial total) {
  const long long column = first_column + column_of(slot);
#if op == mean
  if (column < problem.columns) arguments.y[column] = result_of(total, problem.rows);
#else
  if (column < problem.columns) arguments.y[column] = result_of(total);
#endif
}

// What the blocks of a strip left for a slot, in their order; `partials` is the slot's of the first one.
__device__ __forceinline__ Partial total_of_blocks(const Partial* partials) {
  Partial total = *partials;
#pragma unroll 8
  for (long long i = 1; i < Schedule::splits; ++i) total = Combine()(total, partials[i * strip]);
  return total;
}

#if folded
// The number of a column's partial result among those of all strips.
__device__ __forceinline__ long long place_of(long long column) {
  const int inside = static_cast<int>(column % strip);
  return column - inside + slot_of(inside / vector_width, inside % vector_width);
}

// The workspace has the slots of each block, a ticket counter of each strip, and one of all. The last block
// of a strip leaves its totals in the slots of the first one; the last of these combines columns.
__device__ __forceinline__ void reduce_columns(const Arguments& arguments) {
  const Problem problem(arguments);
  const int group = blockIdx.x / Schedule::splits, split = blockIdx.x % Schedule::splits;
  const int groups = gridDim.x / Schedule::splits;
  const long long first_column = static_cast<long long>(group) * strip;
  const Partial* totals = reduce_part(arguments, FoldedRows(problem), first_column, split);

  Partial* partials = static_cast<Partial*>(arguments.workspace);
  int* tickets = reinterpret_cast<int*>(partials + static_cast<long long>(gridDim.x) * strip);
  Partial* own = partials + static_cast<long long>(blockIdx.x) * strip;
  for (int slot = threadIdx.x; slot < strip; slot += Schedule::threads) own[slot] = totals[slot];
  if (!is_last_block(tickets + group, Schedule::splits)) return;
  Partial* first = own - static_cast<long long>(split) * strip;
  for (int slot = threadIdx.x; slot < strip; slot += Schedule::threads) {
    Partial total = first[slot];
#  pragma unroll 16
    for (int block = 1; block < Schedule::splits; ++block) {
      total = Combine()(total, first[static_cast<long long>(block) * strip + slot]);
    }
    first[slot] = total;
  }
  if (!is_last_block(tickets + groups, groups)) return;
  for (long long column = threadIdx.x; column < problem.columns; column += Schedule::threads) {
    Partial terms[Problem::fold];
#  pragma unroll
    for (int row = 0; row < Problem::fold; ++row) {
      const long long place = place_of(column + row * problem.columns), of_strip = place / strip;
      terms[row] = partials[of_strip * Schedule::splits * strip + place % strip];
    }
#  pragma unroll
    for (int row = 1; row < Problem::fold; ++row) terms[0] = Combine()(terms[0], terms[row]);
#  if op == mean
    arguments.y[column] = result_of(terms[0], problem.rows);
#  else
    arguments.y[column] = result_of(terms[0]);
#  endif
  }
}
#elif splits > 1
// The workspace has the slots of each block, then a ticket counter of each strip.
__device__ __forceinline__ void reduce_columns(const Arguments& arguments) {
  const Problem problem(arguments);
  const int group = blockIdx.x / Schedule::splits, split = blockIdx.x % Schedule::splits;
  const long long first_column = static_cast<long long>(group) * strip;
  const Partial* totals = reduce_part(arguments, problem, first_column, split);

  Partial* partials = static_cast<Partial*>(arguments.workspace);
  int* counters = reinterpret_cast<int*>(partials + static_cast<long long>(gridDim.x) * strip);
  Partial* own = partials + static_cast<long long>(blockIdx.x) * strip;
  for (int slot = threadIdx.x; slot < strip; slot += Schedule::threads) own[slot] = totals[slot];
  if (!is_last_block(counters + group, Schedule::splits)) return;
  const Partial* first = own - static_cast<long long>(split) * strip;
  for (int slot = threadIdx.x; slot < strip; slot += Schedule::threads) {
    store_slot(arguments, problem, first_column, slot, total_of_blocks(first + slot));
  }
}
#else
__device__ __forceinline__ void reduce_columns(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long first_column = static_cast<long long>(blockIdx.x) * strip;
  const Partial* totals = reduce_part(arguments, problem, first_column, 0);
  for (int slot = threadIdx.x; slot < strip; slot += Schedule::threads) {
    store_slot(arguments, problem, first_column, slot, totals[slot]);
  }
}
#endif
