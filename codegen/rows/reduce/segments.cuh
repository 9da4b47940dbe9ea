#pragma once
#include "rows/reduce/rows.cuh"
// Segments: rows whose begins and ends are in memory. They have threads as rows have, however long they are.

__device__ __forceinline__ void reduce_segments(const Arguments& arguments) {
  constexpr int segments_per_block = Schedule::threads / threads_per_row;
  const Problem problem(arguments);
  const long long group = blockIdx.x / Schedule::splits;
  const int split = blockIdx.x % Schedule::splits;
  const long long segment = group * segments_per_block + threadIdx.x / threads_per_row;
  // Threads beyond the last segment take part in the block's barriers.
  const bool exists = segment < problem.segments;
  const long long start = exists ? arguments.offsets[segment] : 0;
  const Index count = exists ? static_cast<Index>(arguments.offsets[segment + 1] - start) : 0;
  ElementPointer source = elements_of(arguments) + start;
  Partial* scratch = dynamic_shared<Partial>();
  Partial partial = reduce_part(source, count, split, head_of(start));
  partial = reduce_row<threads_per_row>(partial, Combine(), scratch);
#if splits > 1
  // The workspace has a partial result of each block, then a ticket counter of each segment.
  Partial* partials = static_cast<Partial*>(arguments.workspace);
  int* counters = reinterpret_cast<int*>(partials + gridDim.x);
  const Partial nothing = empty_partial(Problem::last_index);
  if (!reduce_blocks<Schedule::threads>(partial, nothing, Combine(), split, Schedule::splits,
                                        partials + segment * Schedule::splits, counters + segment, scratch)) {
    return;
  }
#endif
  if (exists && threadIdx.x % threads_per_row == 0) {
#if indexed
    arguments.y[segment] = count == 0 ? -1 : row_result(partial, source, count, head_of(start));
#else
    arguments.y[segment] = row_result(partial, source, count, head_of(start));
#endif
  }
}
