#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/shared_memory.cuh"
#include "rows/reduce/row_part.cuh"
// Short segments: all threads of a block copy the elements of its segments to shared memory, which are next
// to each other, whatever their bounds; threads_per_row threads of it then reduce each. What shared memory
// cannot hold at once is copied tile by tile.

constexpr int threads_per_row = Schedule::threads_per_row;
constexpr int segments_per_block = Schedule::threads / threads_per_row;
constexpr int tile = Schedule::threads * vector_width * Schedule::loads_in_flight;  // elements

// Copies a tile, which begins with a whole vector, up to `end`; of the array's last vector what there is.
__device__ __forceinline__ void copy_tile(Element* held, const Element* source, long long begin,
                                          long long end, long long columns) {
  const long long whole = columns & -vector_width;  // from there on, elements are copied one by one
  const int count = static_cast<int>(min(min(end, whole) - begin, static_cast<long long>(tile)));
  const int first = static_cast<int>(threadIdx.x) * vector_width;
  const Element* own = source + begin + first;
#pragma unroll
  for (int load = 0; load < Schedule::loads_in_flight; ++load) {
    const int offset = load * Schedule::threads * vector_width;
    if (first + offset < count) async_copy<sizeof(Vector)>(held + first + offset, own + offset);
  }
  async_commit();
  const long long single = whole + threadIdx.x;
  if (single < end && single < begin + tile) held[single - begin] = source[single];
  async_wait<0>();
}

// What is there of a segment: elements from `held` on, one for each of its threads in turn, of which the
// first has this index.
__device__ __forceinline__ void take_elements(RowPart& part, const Element* held, int count, Index index) {
  constexpr int together = vector_width * threads_per_row;
  int i = threadIdx.x % threads_per_row;
#if indexed
#  pragma unroll 4
  for (; i < count; i += threads_per_row) part.take_element(held[i], index + i);
#else
  for (; i + together - threads_per_row < count; i += together) {
#  pragma unroll
    for (int j = 0; j < vector_width; ++j) take(part.partials[j], held[i + j * threads_per_row], index + i);
  }
  for (; i < count; i += threads_per_row) part.take_element(held[i], index + i);
#endif
}

__device__ __forceinline__ void reduce_segments(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long first = static_cast<long long>(blockIdx.x) * segments_per_block;
  const long long segment = first + threadIdx.x / threads_per_row;
  const bool exists = segment < problem.segments;
  const long long behind = min(first + segments_per_block, static_cast<long long>(problem.segments));
  const long long all_begin = arguments.offsets[first], all_end = arguments.offsets[behind];
  const long long start = exists ? arguments.offsets[segment] : all_end;
  const long long end = exists ? arguments.offsets[segment + 1] : all_end;
  Element* held = reinterpret_cast<Element*>(dynamic_shared<unsigned char>() + Problem::held_at);

  RowPart part(static_cast<Index>(threadIdx.x % threads_per_row));
  for (long long begin = all_begin & -vector_width; begin < all_end; begin += tile) {
    copy_tile(held, arguments.x, begin, all_end, problem.columns);
    __syncthreads();
    const long long from = max(start, begin), to = min(end, begin + tile);
    if (from < to) {
      take_elements(part, held + (from - begin), static_cast<int>(to - from),
                    static_cast<Index>(from - start));
    }
    __syncthreads();  // before the next tile takes its place
  }

  const Partial partial = reduce_row<threads_per_row>(part.total(), Combine(), dynamic_shared<Partial>());
  if (exists && threadIdx.x % threads_per_row == 0) {
    const Index count = static_cast<Index>(end - start);
#if indexed
    arguments.y[segment] = count == 0 ? -1 : partial.index;
#else
    arguments.y[segment] = row_result(partial, arguments.x, count, 0);
#endif
  }
}
