#pragma once
#include "cuda/packed.cuh"
#include "cuda/shared_memory.cuh"
#include "cuda/tile_order.cuh"
// B[batch][n][m] = A[batch][m][n]: one block moves one tile of A through shared memory.

using Element = Problem::Element;
using Index = Problem::Index;

constexpr int lanes_n = Schedule::tile_n / Schedule::vector_load;   // threads side by side on a row of A
constexpr int lanes_m = Schedule::tile_m / Schedule::vector_store;  // vectors of a row of B
constexpr int threads = lanes_n * (Schedule::tile_m / Schedule::rows_per_thread);
constexpr int overlap = Problem::overlap;  // rows that a tile shares with the next one
constexpr int micro_m = overlap > 0 ? 1 : Schedule::vector_store;  // rows of a micro-tile

static_assert(Schedule::rows_per_thread % Schedule::vector_store == 0, "threads load whole micro-tiles");
static_assert(Schedule::pad % Schedule::vector_store == 0, "padding keeps vectors aligned");

// Offset in shared memory of the tile's element of row m and column n. As in B, elements of one n are
// neighbours. The vector_load rows that a thread writes form a group. Padding or XOR shifts groups against
// each other, so that threads which write the same m of many groups use different banks.
__device__ __forceinline__ int tile_index(int m, int n) {
  const int group = n / Schedule::vector_load;
#if swizzle
  const int column = m ^ group * Problem::group_shift % Schedule::tile_m;
  return n * Schedule::tile_m + column;
#else
  return n * (Schedule::tile_m + overlap) + group * Schedule::pad + m;
#endif
}

// Elements by which the tile's row n of B, as `b` points at it, begins behind a multiple of align_stores
// bytes. Row n is shifted to the right by as many in shared memory: from column `overlap` on it is stored,
// aligned.
__device__ __forceinline__ int row_shift(const Element* b, int n, const Problem& problem) {
#if align_stores
  const auto elements = reinterpret_cast<unsigned long long>(b) / sizeof(Element);
  return (static_cast<unsigned>(elements) + n * static_cast<unsigned>(problem.ldb)) % overlap;
#else
  return 0;
#endif
}

// Moves the vectors of a tile, or those of its first inside_m rows and inside_n columns, which end with
// vectors. `a` and `b` point at its first element.
template <bool whole>
__device__ __forceinline__ void transpose_vectors(const Element* a, Element* b, const Problem& problem,
                                                  Index inside_m, Index inside_n) {
  using Row = Packed<Element, Schedule::vector_load>;
  using Column = Packed<Element, micro_m>;
  using Stored = Packed<Element, Schedule::vector_store>;
  Element* tile = dynamic_shared<Element>();
  const int thread = threadIdx.x;

  // Rows of a thread's micro-tiles; those of the block's other threads lie in between.
  const int first_m = thread / lanes_n * micro_m;
  constexpr int step_m = threads / lanes_n * micro_m;
  const int first_n = thread % lanes_n * Schedule::vector_load;
  Row rows[Schedule::rows_per_thread] = {};
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_thread; ++row) {
    const int m = first_m + row / micro_m * step_m + row % micro_m;
    if (whole || (m < inside_m && first_n < inside_n)) {
      rows[row] = load_global<Schedule::vector_load, Schedule::streaming>(a + m * problem.lda + first_n);
    }
  }
  int shifts[Schedule::vector_load];
#pragma unroll
  for (int j = 0; j < Schedule::vector_load; ++j) shifts[j] = row_shift(b, first_n + j, problem);
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_thread; row += micro_m) {
    const int m = first_m + row / micro_m * step_m;
#pragma unroll
    for (int j = 0; j < Schedule::vector_load; ++j) {
      Column column;
#pragma unroll
      for (int i = 0; i < micro_m; ++i) column.elements[i] = rows[row + i].elements[j];
      *reinterpret_cast<typename Column::Bits*>(tile + tile_index(m + shifts[j], first_n + j)) = column.bits;
    }
  }
  __syncthreads();
#pragma unroll
  for (int round = 0; round < Schedule::tile_n * lanes_m / threads; ++round) {
    const int vector = round * threads + thread;
    const int m = vector % lanes_m * Schedule::vector_store;
    const int n = vector / lanes_m;
    if ((overlap > 0 && m < overlap) || !(whole || (m < inside_m && n < inside_n))) continue;
    Stored stored;
    stored.bits = *reinterpret_cast<const typename Stored::Bits*>(tile + tile_index(m, n));
    store_global_whole<Schedule::streaming>(b + n * problem.ldb + (m - row_shift(b, n, problem)), stored);
  }
}

// Moves rows outside_m … inside_m - 1 and inside_n columns of a tile, one element at a time.
__device__ __forceinline__ void transpose_elements(const Element* a, Element* b, const Problem& problem,
                                                   Index outside_m, Index inside_m, Index inside_n) {
  Element* tile = dynamic_shared<Element>();
  constexpr int rounds = Schedule::tile_m * Schedule::tile_n / threads;
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    const int element = round * threads + threadIdx.x;
    const int m = element / Schedule::tile_n;
    const int n = element % Schedule::tile_n;
    if (m >= outside_m && m < inside_m && n < inside_n) {
      tile[tile_index(m + row_shift(b, n, problem), n)] = a[m * problem.lda + n];
    }
  }
  __syncthreads();
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    const int element = round * threads + threadIdx.x;
    const int column = element % Schedule::tile_m;
    const int n = element / Schedule::tile_m;
    const int m = column - row_shift(b, n, problem);
    if (column >= overlap && m >= outside_m && m < inside_m && n < inside_n) {
      b[n * problem.ldb + m] = tile[tile_index(column, n)];
    }
  }
}

__device__ __forceinline__ void transpose_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int stored_m = Schedule::tile_m - overlap;
  // Aligned stores begin up to overlap - 1 elements before the matrix.
  const unsigned tiles_m = (problem.m - 1 + (overlap > 0 ? overlap - 1 : 0)) / stored_m + 1;
  const unsigned tiles_n = (problem.n - 1) / Schedule::tile_n + 1;
  const unsigned batch = blockIdx.x / (tiles_m * tiles_n);
  const TilePosition tile =
      grouped_tile<Schedule::raster_group>(blockIdx.x % (tiles_m * tiles_n), tiles_m, tiles_n);

  // 64 bits from the pointers to the block's tiles; Index is enough inside of those.
  const long long m = static_cast<long long>(tile.m) * stored_m - overlap;
  const long long n = static_cast<long long>(tile.n) * Schedule::tile_n;
  const Element* a = arguments.a + batch * problem.stride_a + m * problem.lda + n;
  Element* b = arguments.b + batch * problem.stride_b + n * problem.ldb + m;
  const Index inside_m = problem.m - m;
  const Index inside_n = problem.n - n;
#if edges
  const Index outside_m = m < 0 ? -m : 0;
  if (outside_m > 0 || inside_m < Schedule::tile_m || inside_n < Schedule::tile_n) {
#  if ragged
    transpose_elements(a, b, problem, outside_m, inside_m, inside_n);
#  else
    transpose_vectors<false>(a, b, problem, inside_m, inside_n);
#  endif
    return;
  }
#endif
  transpose_vectors<true>(a, b, problem, inside_m, inside_n);
}
