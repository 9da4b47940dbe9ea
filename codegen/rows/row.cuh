#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
// How the rows of a matrix lie over threads. A row belongs to the threads of a segment of a warp, of a block,
// or of all blocks of a cluster. In each round, neighbouring threads take neighbouring vectors of it.
//
// All threads of a block take part in reductions, those of rows beyond the last one too:
// nothing of such a row is inside.

using Element = Problem::Element;
using Vector = Packed<Element, Schedule::vector_width>;

constexpr int rows_per_block = Schedule::threads / Schedule::threads_per_row;
// Elements that all threads of a row take in a round.
constexpr int row_step = Schedule::cluster * Schedule::threads_per_row * Schedule::vector_width;

// Shared memory: 16 bytes for each warp and for the row of the cluster, in each of the kernel's reductions
// over rows; then what the rows leave there.
constexpr int reduction_slots = Schedule::threads / 32 + 1;

// The row of a thread, which may lie beyond the last one, and the first column of its first vector.
struct RowPosition {
  long long row;
  int column;
};

__device__ __forceinline__ RowPosition row_position() {
  const unsigned team = blockIdx.x / Schedule::cluster, rank = blockIdx.x % Schedule::cluster;
  const unsigned thread = rank * Schedule::threads_per_row + threadIdx.x % Schedule::threads_per_row;
  return {static_cast<long long>(team) * rows_per_block + threadIdx.x / Schedule::threads_per_row,
          static_cast<int>(thread * Schedule::vector_width)};
}

// A vector of a row, of whose elements `inside` exist: none if that is 0 or less, all if it is the vector's
// width or more. The others become `fill`. `once` says that nobody reads it again.
template <bool once>
__device__ __forceinline__ Vector load_row_vector(const Element* source, int inside, Element fill) {
  Vector vector;
#pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) vector.elements[i] = fill;
#if masked && !ragged
  constexpr int least = 1;  // there is memory behind the end of a row, which the mask hides
#else
  constexpr int least = Schedule::vector_width;
#endif
  if (inside >= least) {
    // Not by __ldg: the output may be the input.
    const Vector::Bits* address = reinterpret_cast<const Vector::Bits*>(source);
#if streaming
    vector.bits = once ? __ldcs(address) : *address;
#else
    vector.bits = *address;
#endif
  }
#if ragged
  if (inside < least) {
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width - 1; ++i) {
      if (i < inside) vector.elements[i] = source[i];
    }
  }
#elif masked
#  pragma unroll
  for (int i = 1; i < Schedule::vector_width; ++i) {
    if (i >= inside) vector.elements[i] = fill;
  }
#endif
  return vector;
}

// Stores the elements of a vector that are inside of the row.
template <typename Number>
__device__ __forceinline__ void store_row_vector(Number* target,
                                                 const Packed<Number, Schedule::vector_width>& vector,
                                                 int inside) {
  if (inside >= Schedule::vector_width) {
    store_global<Schedule::streaming>(target, vector);
    return;
  }
#if ragged
#  pragma unroll
  for (int i = 0; i < Schedule::vector_width - 1; ++i) {
    if (i < inside) target[i] = vector.elements[i];
  }
#endif
}

// Reduces a value of each thread over the row; all threads of the grid take part, and all of the row get the
// result. `reduction` numbers the reductions of a kernel from 0. Blocks of a cluster meet at a barrier before
// they end.
template <int reduction, typename Value, class Combine>
__device__ __forceinline__ Value reduce_over_row(Value value, Combine combine) {
  static_assert(sizeof(Value) <= 16, "a slot has 16 bytes");
  unsigned char* slots = dynamic_shared<unsigned char>() + reduction * reduction_slots * 16;
  Value* scratch = reinterpret_cast<Value*>(slots);
  value = reduce_row<Schedule::threads_per_row>(value, combine, scratch);
#if cluster > 1
  Value* of_cluster = scratch + Schedule::threads / 32;
  value = reduce_cluster<Schedule::threads_per_row, Schedule::cluster>(value, combine, of_cluster);
#endif
  return value;
}
