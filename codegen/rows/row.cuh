#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#if heads_first
#  include "rows/softmax/heads_first.cuh"
#endif
// How the rows of a matrix lie over threads. A row belongs to the threads of a segment of a warp, of a block,
// or of all blocks of a cluster. In each round, neighbouring threads take neighbouring vectors of it. Vectors
// are aligned in memory: a row that begins or ends within one has a part of it, whose elements are loaded and
// stored one by one. Its first thread then begins where a sector does, which may be vectors ahead of the row.
//
// All threads of a block take part in reductions, those of rows beyond the last one too:
// nothing of such a row is inside.

using Element = Problem::Element;
using Vector = Packed<Element, Schedule::vector_width>;

constexpr int rows_per_block = Schedule::threads / Schedule::threads_per_row;
// Elements that all threads of a row take in a round.
constexpr int row_step = Schedule::cluster * Schedule::threads_per_row * Schedule::vector_width;

// Shared memory of each of the kernel's reductions over rows: 16 bytes for each warp, and in a cluster for
// each of its blocks and for a barrier. What the rows leave there follows.
constexpr int reduction_slots = Schedule::threads / 32 + (Schedule::cluster > 1 ? Schedule::cluster + 1 : 0);

// Elements from `begin` to before `end`, counted from the first one of a vector.
struct Span {
  int begin, end;

  // The same, counted from `offset` elements further on.
  __device__ __forceinline__ Span from(int offset) const { return {begin - offset, end - offset}; }
  __device__ __forceinline__ bool has(int i) const { return begin <= i && i < end; }
  // Whether all of a vector is among them.
  __device__ __forceinline__ bool whole() const {
    return (!Problem::skewed || begin <= 0) && end >= Schedule::vector_width;
  }
};

// What a thread has of a row, which may lie beyond the last one.
struct RowPart {
  long long row;
  int column;    // the first element of its first vector: less than 0 if that begins ahead of the row
  Span columns;  // the row's, from there on
};

__device__ __forceinline__ RowPart row_part(const Problem& problem, const Element* x) {
  const long long group = blockIdx.x / Schedule::cluster;
#if heads_first
  const long long row = placed_row(problem, group * rows_per_block + threadIdx.x / Schedule::threads_per_row);
#else
  const long long row = group * rows_per_block + threadIdx.x / Schedule::threads_per_row;
#endif
  const unsigned rank = blockIdx.x % Schedule::cluster;
  const unsigned thread = rank * Schedule::threads_per_row + threadIdx.x % Schedule::threads_per_row;
  int column = static_cast<int>(thread * Schedule::vector_width);
#if skewed
  const auto address = reinterpret_cast<unsigned long long>(x + row * problem.ldx);
  // A sector of L2 that two accesses share is read twice.
  column -= static_cast<int>(address % 32 / sizeof(Element));
#endif
#if exchanged
  // Of a row beyond the last one, nothing that the lane before has either.
  constexpr int none = -Schedule::vector_width;
  return {row, column, {-column, row < problem.rows ? problem.columns - column : none}};
#else
  return {row, column, {-column, row < problem.rows ? problem.columns - column : 0}};
#endif
}

// A vector of a row, of whose elements some are `inside`. The others become `fill`. `once` says that nobody
// reads it again.
template <bool once>
__device__ __forceinline__ Vector load_row_vector(const Element* source, Span inside, Element fill) {
  Vector vector;
  if (inside.whole()) {
    // Not by __ldg: the output may be the input.
    const Vector::Bits* address = reinterpret_cast<const Vector::Bits*>(source);
#if streaming
    vector.bits = once ? __ldcs(address) : *address;
#else
    vector.bits = *address;
#endif
  } else {
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      vector.elements[i] = fill;
#if partial
      if (inside.has(i)) vector.elements[i] = source[i];
#endif
    }
  }
  return vector;
}

#if exchanged
#  include "rows/exchanged_store.cuh"
#else
#  include "rows/vector_store.cuh"
#endif

// What a reduction over rows has in shared memory.
__device__ __forceinline__ unsigned char* slots_of(int reduction) {
  return dynamic_shared<unsigned char>() + reduction * reduction_slots * 16;
}

#if cluster > 1
__device__ __forceinline__ Barrier* barrier_of(int reduction) {
  return reinterpret_cast<Barrier*>(slots_of(reduction + 1) - 16);
}
#endif

// Before the first loads, for they take longer than the blocks of a cluster need to meet.
template <int reductions>
__device__ __forceinline__ void prepare_row_reductions() {
#if cluster > 1
  if (threadIdx.x == 0) {
#  pragma unroll
    for (int i = 0; i < reductions; ++i) barrier_of(i)->init(1);
    barriers_fence();
  }
  cluster_arrive();
#endif
}

// Reduces a value of each thread over the row; all threads of the grid take part, and all of the row get the
// result. `reduction` numbers the reductions of a kernel from 0, in their order.
template <int reduction, typename Value, class Combine>
__device__ __forceinline__ Value reduce_over_row(Value value, Combine combine) {
  static_assert(sizeof(Value) <= 16, "a slot has 16 bytes");
  Value* scratch = reinterpret_cast<Value*>(slots_of(reduction));
  value = reduce_row<Schedule::threads_per_row>(value, combine, scratch);
#if cluster > 1
  if (reduction == 0) cluster_wait();
  Value* of_blocks = scratch + Schedule::threads / 32;
  value = reduce_cluster<Schedule::cluster>(value, combine, of_blocks, *barrier_of(reduction));
#endif
  return value;
}
