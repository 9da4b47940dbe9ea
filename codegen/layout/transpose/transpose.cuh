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
  return n * Schedule::tile_m + group * Schedule::pad + m;
#endif
}

// A tile inside the matrix: moves vectors. `a` and `b` point at its first element.
__device__ __forceinline__ void transpose_full_tile(const Element* a, Element* b, const Problem& problem) {
  using Row = Packed<Element, Schedule::vector_load>;
  using Column = Packed<Element, Schedule::vector_store>;
  Element* tile = dynamic_shared<Element>();
  const int thread = threadIdx.x;

  // Rows of a thread's micro-tiles; those of the block's other threads lie in between.
  const int first_m = thread / lanes_n * Schedule::vector_store;
  constexpr int step_m = threads / lanes_n * Schedule::vector_store;
  const int first_n = thread % lanes_n * Schedule::vector_load;
  Row rows[Schedule::rows_per_thread];
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_thread; ++row) {
    const int m = first_m + row / Schedule::vector_store * step_m + row % Schedule::vector_store;
    rows[row] = load_global<Schedule::vector_load, Schedule::streaming>(a + m * problem.lda + first_n);
  }
#pragma unroll
  for (int row = 0; row < Schedule::rows_per_thread; row += Schedule::vector_store) {
    const int m = first_m + row / Schedule::vector_store * step_m;
#pragma unroll
    for (int j = 0; j < Schedule::vector_load; ++j) {
      Column column;
#pragma unroll
      for (int i = 0; i < Schedule::vector_store; ++i) column.elements[i] = rows[row + i].elements[j];
      *reinterpret_cast<typename Column::Bits*>(tile + tile_index(m, first_n + j)) = column.bits;
    }
  }
  __syncthreads();
#pragma unroll
  for (int round = 0; round < Schedule::tile_n * lanes_m / threads; ++round) {
    const int vector = round * threads + thread;
    const int m = vector % lanes_m * Schedule::vector_store;
    const int n = vector / lanes_m;
    Column column;
    column.bits = *reinterpret_cast<const typename Column::Bits*>(tile + tile_index(m, n));
    store_global<Schedule::streaming>(b + n * problem.ldb + m, column);
  }
}

// A tile that exceeds the matrix: moves inside_m rows and inside_n columns of it, element by element.
__device__ __forceinline__ void transpose_edge_tile(const Element* a, Element* b, const Problem& problem,
                                                    Index inside_m, Index inside_n) {
  Element* tile = dynamic_shared<Element>();
  constexpr int rounds = Schedule::tile_m * Schedule::tile_n / threads;
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    const int element = round * threads + threadIdx.x;
    const int m = element / Schedule::tile_n;
    const int n = element % Schedule::tile_n;
    if (m < inside_m && n < inside_n) tile[tile_index(m, n)] = a[m * problem.lda + n];
  }
  __syncthreads();
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    const int element = round * threads + threadIdx.x;
    const int m = element % Schedule::tile_m;
    const int n = element / Schedule::tile_m;
    if (m < inside_m && n < inside_n) b[n * problem.ldb + m] = tile[tile_index(m, n)];
  }
}

__device__ __forceinline__ void transpose_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const unsigned tiles_m = (problem.m - 1) / Schedule::tile_m + 1;
  const unsigned tiles_n = (problem.n - 1) / Schedule::tile_n + 1;
  const unsigned batch = blockIdx.x / (tiles_m * tiles_n);
  const TilePosition tile =
      grouped_tile<Schedule::raster_group>(blockIdx.x % (tiles_m * tiles_n), tiles_m, tiles_n);

  // 64 bits from the pointers to the block's tiles; Index is enough inside of those.
  const long long m = static_cast<long long>(tile.m) * Schedule::tile_m;
  const long long n = static_cast<long long>(tile.n) * Schedule::tile_n;
  const Element* a = arguments.a + batch * problem.stride_a + m * problem.lda + n;
  Element* b = arguments.b + batch * problem.stride_b + n * problem.ldb + m;
#if edges
  const Index inside_m = problem.m - m;
  const Index inside_n = problem.n - n;
  if (inside_m < Schedule::tile_m || inside_n < Schedule::tile_n) {
    transpose_edge_tile(a, b, problem, inside_m, inside_n);
    return;
  }
#endif
  transpose_full_tile(a, b, problem);
}
