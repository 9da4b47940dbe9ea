#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tickets.cuh"
#include "rows/reduce/row_part.cuh"
// Rows: threads_per_row threads of a block share one, or all threads of `splits` blocks. In a step, each
// thread has `loads_in_flight` vectors on their way. Rows are skewed if they begin between vectors.

constexpr int threads_per_row = Schedule::threads_per_row;
constexpr int row_step = threads_per_row * vector_width;  // elements of one load of all threads
constexpr int tile = row_step * Schedule::loads_in_flight;

// A thread's vectors of a tile that is inside of the row; `column` is that of the first one.
__device__ __forceinline__ void take_tile(RowPart& part, ElementPointer row, Index column) {
  Vector vectors[Schedule::loads_in_flight];
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    vectors[load] = load_global<vector_width, Schedule::streaming>(row + column + load * row_step);
  }
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    part.take_vector(vectors[load], column + load * row_step);
  }
}

// The same of the last tile, of which only a part is.
__device__ __forceinline__ void take_last_tile(RowPart& part, ElementPointer row, Index column,
                                               Index columns) {
  Vector vectors[Schedule::loads_in_flight];
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    const Index first = column + load * row_step;
    vectors[load] = load_inside(row + first, columns - first);
  }
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    const Index first = column + load * row_step;
    part.take_inside(vectors[load], first, columns - first);
  }
}

// Elements of a row ahead of its first whole vector in memory; `start` is where it begins in the matrix.
__device__ __forceinline__ int head_of(long long start) {
#if skewed
  return static_cast<int>(-start & (vector_width - 1));
#else
  return 0;
#endif
}

// Elements ahead of the first vector go to the row's threads one by one.
__device__ __forceinline__ void take_head(RowPart& part, ElementPointer row, Index columns, int head) {
  const int end = head < columns ? head : columns, lane = threadIdx.x % threads_per_row;
  if (lane < end) part = RowPart(lane);
  for (int i = lane; i < end; i += threads_per_row) part.take_element(row[i], i);
}

// What a thread makes of its part of a row. Tiles go to the blocks in turn, which `split` numbers.
__device__ __forceinline__ Partial reduce_part(ElementPointer row, Index columns, int split, int head) {
  const Index step = static_cast<Index>(Schedule::splits) * tile;
  const int offset = threadIdx.x % threads_per_row * vector_width;
  Index first = static_cast<Index>(split) * tile + head;
  RowPart part(first + offset);
#if skewed
  if (split == 0) take_head(part, row, columns, head);
#endif
  for (; first + tile <= columns; first += step) take_tile(part, row, first + offset);
  if (first < columns) take_last_tile(part, row, first + offset, columns);
  return part.total();
}

#if splits > 1
// The workspace has a partial result of each block, then a ticket counter of each row.
__device__ __forceinline__ void reduce_rows(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x / Schedule::splits;
  const int split = blockIdx.x % Schedule::splits;
  const long long start = row * problem.ldx;
  Partial* scratch = dynamic_shared<Partial>();
  ElementPointer source = elements_of(arguments) + start;
  Partial partial = reduce_part(source, problem.columns, split, head_of(start));
  partial = reduce_row<Schedule::threads>(partial, Combine(), scratch);

  Partial* partials = static_cast<Partial*>(arguments.workspace);
  int* counters = reinterpret_cast<int*>(partials + gridDim.x);
  const Partial nothing = empty_partial(Problem::last_index);
  const bool last =
      reduce_blocks<Schedule::threads>(partial, nothing, Combine(), split, Schedule::splits,
                                       partials + row * Schedule::splits, counters + row, scratch);
  if (last && threadIdx.x == 0) {
    arguments.y[row] = row_result(partial, source, problem.columns, head_of(start));
  }
}
#else
__device__ __forceinline__ void reduce_rows(const Arguments& arguments) {
  constexpr int rows_per_block = Schedule::threads / threads_per_row;
  const Problem problem(arguments);
  const long long row = static_cast<long long>(blockIdx.x) * rows_per_block + threadIdx.x / threads_per_row;
  // Threads beyond the last row take part in the block's barriers.
  const bool exists = row < problem.rows;
  const long long start = exists ? row * problem.ldx : 0;
  ElementPointer source = elements_of(arguments) + start;
  Partial partial = reduce_part(source, exists ? problem.columns : 0, 0, head_of(start));
  partial = reduce_row<threads_per_row>(partial, Combine(), dynamic_shared<Partial>());
  if (exists && threadIdx.x % threads_per_row == 0) {
    arguments.y[row] = row_result(partial, source, problem.columns, head_of(start));
  }
}
#endif
