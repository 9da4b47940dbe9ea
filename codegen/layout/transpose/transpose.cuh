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
constexpr int overlap_m = Problem::overlap_m;  // rows of A that a tile shares with the next one
constexpr int overlap_n = Problem::overlap_n;  // columns of A that a tile shares with the next one
constexpr int stored_n = Schedule::tile_n - overlap_n;
constexpr int micro_m = overlap_m + overlap_n > 0 ? 1 : Schedule::vector_store;  // rows of a micro-tile
constexpr int group_n = overlap_m > 0 ? overlap_m : Schedule::vector_load;       // rows of B in a group

static_assert(Schedule::rows_per_thread % Schedule::vector_store == 0, "threads load whole micro-tiles");
static_assert(Schedule::pad % Schedule::vector_store == 0, "padding keeps vectors aligned");

// Offset in shared memory of the tile's element of row m and column n. As in B, elements of one n are
// neighbours. The rows of B that a thread writes, or that have different shifts, form a group. Padding or XOR
// shifts groups against each other, so that threads which write the same m of many groups use different
// banks.
__device__ __forceinline__ int tile_index(int m, int n) {
  const int group = n / group_n;
#if swizzle
  const int column = m ^ group * Problem::group_shift % Schedule::tile_m;
  return n * Schedule::tile_m + column;
#else
  return n * (Schedule::tile_m + overlap_m) + group * Schedule::pad + m;
#endif
}

// Elements by which a tile's row in global memory begins behind a multiple of `boundary` elements. A row of A
// is loaded from so many columns before the tile; these, at the left, take the place of as many at the right
// in shared memory. A row of B is shifted to the right by so many in shared memory: from column overlap_m on
// it is stored, aligned.
template <int boundary>
__device__ __forceinline__ int row_shift(const Element* tile, int row, Index leading) {
  if constexpr (boundary > 0) {
    const auto elements = reinterpret_cast<unsigned long long>(tile) / sizeof(Element);
    return (static_cast<unsigned>(elements) +
            static_cast<unsigned>(row) % boundary * static_cast<unsigned>(leading)) %
           boundary;
  }
  return 0;
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
      rows[row] = load_global<Schedule::vector_load, Schedule::streaming>(
          a + (m * problem.lda + first_n - row_shift<overlap_n>(a, m, problem.lda)));
    }
  }
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_thread; row += micro_m) {
    const int m = first_m + row / micro_m * step_m;
    const int shift_a = row_shift<overlap_n>(a, m, problem.lda);
#pragma unroll
    for (int j = 0; j < Schedule::vector_load; ++j) {
      const int n =
          overlap_n > 0 ? (first_n + j + Schedule::tile_n - shift_a) % Schedule::tile_n : first_n + j;
      const int shift_b = row_shift<overlap_m>(b, n, problem.ldb);
      Column column;
#pragma unroll
      for (int i = 0; i < micro_m; ++i) column.elements[i] = rows[row + i].elements[j];
      *reinterpret_cast<typename Column::Bits*>(tile + tile_index(m + shift_b, n)) = column.bits;
    }
  }
  __syncthreads();
#pragma unroll
  for (int round = 0; round < Schedule::tile_n * lanes_m / threads; ++round) {
    const int vector = round * threads + thread;
    const int m = vector % lanes_m * Schedule::vector_store;
    const int n = vector / lanes_m;
    if ((overlap_m > 0 && m < overlap_m) || (overlap_n > 0 && n >= stored_n)) continue;
    if (!(whole || (m < inside_m && n < inside_n))) continue;
    Stored stored;
    stored.bits = *reinterpret_cast<const typename Stored::Bits*>(tile + tile_index(m, n));
    store_global_whole<Schedule::streaming>(
        b + (n * problem.ldb + m - row_shift<overlap_m>(b, n, problem.ldb)), stored);
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
      tile[tile_index(m + row_shift<overlap_m>(b, n, problem.ldb), n)] = a[m * problem.lda + n];
    }
  }
  __syncthreads();
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    const int element = round * threads + threadIdx.x;
    const int column = element % Schedule::tile_m;
    const int n = element / Schedule::tile_m;
    const int m = column - row_shift<overlap_m>(b, n, problem.ldb);
    if (column >= overlap_m && m >= outside_m && m < inside_m && n < inside_n) {
      b[n * problem.ldb + m] = tile[tile_index(column, n)];
    }
  }
}

__device__ __forceinline__ void transpose_block(const Arguments& arguments) {
  const Problem problem(arguments);
  constexpr int stored_m = Schedule::tile_m - overlap_m;
  // Aligned stores begin up to overlap_m - 1 elements before the matrix.
  const unsigned tiles_m = (problem.m - 1 + (overlap_m > 0 ? overlap_m - 1 : 0)) / stored_m + 1;
  const unsigned tiles_n = (problem.n - 1) / stored_n + 1;
  const unsigned batch = blockIdx.x / (tiles_m * tiles_n);
  const TilePosition tile =
      grouped_tile<Schedule::raster_group>(blockIdx.x % (tiles_m * tiles_n), tiles_m, tiles_n);

  // 64 bits from the pointers to the block's tiles; Index is enough inside of those.
  const long long m = static_cast<long long>(tile.m) * stored_m - overlap_m;
  const long long n = static_cast<long long>(tile.n) * stored_n;
  const Element* a = arguments.a + batch * problem.stride_a + m * problem.lda + n;
  Element* b = arguments.b + batch * problem.stride_b + n * problem.ldb + m;
  const Index inside_m = problem.m - m;
  const Index inside_n = problem.n - n;
#if edges
  const Index outside_m = m < 0 ? -m : 0;
  // Aligned loads begin up to overlap_n - 1 elements before the tile.
  if (outside_m > 0 || (overlap_n > 0 && n == 0) || inside_m < Schedule::tile_m ||
      inside_n < Schedule::tile_n) {
#  if ragged
    transpose_elements(a, b, problem, outside_m, inside_m, inside_n < stored_n ? inside_n : stored_n);
#  else
    transpose_vectors<false>(a, b, problem, inside_m, inside_n);
#  endif
    return;
  }
#endif
  transpose_vectors<true>(a, b, problem, inside_m, inside_n);
}
