#pragma once
#if narrow
#  include "cuda/narrow.cuh"
#endif
#include "streaming/elements.cuh"
#include "streaming/map/functions.cuh"
// y = (f(x + bias) u + r) scale, or its gradients, vector by vector. A block computes tiles: a thread loads
// its vectors of all arrays, computes in float, and stores.

using Input = Problem::Input;    // elements of x, u, r and bias
using Output = Problem::Output;  // results of the forward pass
using Index = Problem::Index;    // a column's number
using Tile = Problem::Tile;      // a tile's number
constexpr int width = Schedule::vector_width;
constexpr int pairs = Problem::pairs;  // elements of x for each result

#if backward
using Target = Input;
constexpr int target_pairs = pairs;
#else
using Target = Output;
constexpr int target_pairs = 1;
#endif

#if load_policy == streaming
constexpr StreamedLoad streamed_load = StreamedLoad::streaming;
#elif load_policy == no_allocate
constexpr StreamedLoad streamed_load = StreamedLoad::no_allocate;
#else
constexpr StreamedLoad streamed_load = StreamedLoad::cached;
#endif

template <int count, typename Number>
__device__ __forceinline__ Elements<Number, count> load_operand(const Number* first, Span inside) {
  return load_elements<count, streamed_load, !Problem::skewed, Problem::partial>(first, inside);
}

template <typename Number, int count>
__device__ __forceinline__ void store_results(Number* first, const Elements<Number, count>& vector,
                                              Span inside) {
  store_elements<Schedule::streaming_stores, !Problem::skewed, Problem::partial>(first, vector, inside);
}

// Where a vector of results is. Of those that lie ahead of a row or beyond it, nothing is inside.
struct Place {
  long long row;
  Index column;
  Span columns;  // columns of a row
  Span inside;   // columns of a row that there are
};

#if !single_row
constexpr int rows_at_once = Schedule::threads / Schedule::threads_per_row;
#endif

// Results along a row that a block computes at once.
__device__ __forceinline__ constexpr int tile_columns() {
#if single_row
  return Schedule::items * Schedule::threads * width;
#else
  return Schedule::threads_per_row * width;
#endif
}

// Tiles along a row, which may begin within a vector.
__device__ __forceinline__ Tile tiles_along(const Problem& problem) {
  const Index reach = problem.columns + (Problem::skewed ? width - 1 : 0);
  return static_cast<Tile>((reach + (tile_columns() - 1)) / tile_columns());
}

__device__ __forceinline__ Place place_of(const Problem& problem, const Target* y, Tile tile, int item) {
#if single_row
  const long long row = 0;
  Index column = static_cast<Index>(tile) * tile_columns();
  column += (item * Schedule::threads + static_cast<int>(threadIdx.x)) * width;
#else
  const Tile along = tiles_along(problem), below = tile / along;
  const long long first = static_cast<long long>(below) * Schedule::items;
  const long long row = (first + item) * rows_at_once + threadIdx.x / Schedule::threads_per_row;
  Index column = static_cast<Index>(tile - below * along) * tile_columns();
  column += static_cast<int>(threadIdx.x % Schedule::threads_per_row) * width;
#endif
#if skewed
  // Vectors of y are aligned.
  const auto address = reinterpret_cast<unsigned long long>(y + row * problem.ldy);
  column -= static_cast<int>(address / (target_pairs * sizeof(Target)) % width);
  const int begin = column < 0 ? -static_cast<int>(column) : 0;
#else
  const int begin = 0;
#endif
  const Index left = problem.columns - column;
  const Span columns = {begin, left < width ? static_cast<int>(left) : width};
  return {row, column, columns, {begin, row < problem.rows ? columns.end : 0}};
}
