#pragma once
#include "cuda/tile_order.cuh"
#include "matmul/sgemm/tile_scheduler.cuh"
// Which tiles of D there are, and where they are.

#if held_columns
struct HeldColumns;
#endif
// A block's tile: its matrix of the batch, its first row and column.
struct Tile {
  int batch;
  int m;
  int n;
#if held_columns
  mutable const HeldColumns* held = nullptr;  // once a consumer has loaded what the columns have
#endif
};

// The blocks of a cluster have tiles side by side, one column of them after the other.
constexpr int cluster_blocks = Schedule::cluster_m * Schedule::cluster_n;
__device__ __forceinline__ int rank_m() { return blockIdx.x % cluster_blocks % Schedule::cluster_m; }
__device__ __forceinline__ int rank_n() { return blockIdx.x % cluster_blocks / Schedule::cluster_m; }

// The sizes of a problem in tiles, those of a cluster as one.
struct Tiling {
  int m, n;   // tiles of a matrix D
  int steps;  // tiles along k of each of them, at least one

  explicit __device__ __forceinline__ Tiling(const Problem& problem)
      : m((problem.m - 1u) / (Schedule::block_m * Schedule::cluster_m) + 1),
        n((problem.n - 1u) / (Schedule::block_n * Schedule::cluster_n) + 1),
        steps(problem.k == 0 ? 1 : (problem.k - 1u) / Schedule::block_k + 1) {}

  __device__ __forceinline__ int matrix() const { return m * n; }
};

// This block's tile of those of its cluster.
__device__ __forceinline__ Tile locate(int index, const Tiling& tiling) {
  const int batch = Problem::batched ? index / tiling.matrix() : 0;
  const TilePosition position =
      grouped_tile<Schedule::raster_group>(index - batch * tiling.matrix(), tiling.m, tiling.n);
  return {batch, (static_cast<int>(position.m) * Schedule::cluster_m + rank_m()) * Schedule::block_m,
          (static_cast<int>(position.n) * Schedule::cluster_n + rank_n()) * Schedule::block_n};
}

constexpr int most_sharers = 16;  // blocks of a tile, whose sums the last one reads one after the other

// Calls `visit` with each tile of this block, its work unit, and the blocks that share it, in order.
template <class Visit>
__device__ __forceinline__ void for_each_tile(const Problem& problem, const Tiling& tiling, Visit visit) {
#if phased
  // Matrices have different numbers of steps.
  const int tiles = tiling.matrix() * problem.batch;
  for (int index = blockIdx.x / cluster_blocks; index < tiles; index += gridDim.x / cluster_blocks) {
    const Tile tile = locate(index, tiling);
    visit(tile, WorkUnit{0, steps_of_matrix(problem, tile.batch)}, Peers{0, 1});
  }
#elif cluster_k > 1 && grid_blocks > 0
  // As many clusters share each tile, and each block has a part of one.
  const int sharers = Schedule::grid_blocks / Schedule::cluster_k / (tiling.matrix() * problem.batch);
  const int cluster = cluster_index(), part = cluster % sharers;
  const WorkUnit unit{part * tiling.steps / sharers, (part + 1) * tiling.steps / sharers};
  visit(locate(cluster / sharers, tiling), unit.share(), Peers{cluster - part, sharers});
#elif cluster_k > 1
  visit(locate(cluster_index(), tiling), WorkUnit{0, tiling.steps}.share(), Peers{0, 1});
#elif grid_blocks == 0
  visit(locate(blockIdx.x / cluster_blocks, tiling), WorkUnit{0, tiling.steps}, Peers{0, 1});
#elif whole_tiles
  const int tiles = tiling.matrix() * problem.batch;
  for (int index = blockIdx.x / cluster_blocks; index < tiles;
       index += Schedule::grid_blocks / cluster_blocks)
    visit(locate(index, tiling), WorkUnit{0, tiling.steps}, Peers{0, 1});
#else
  // As many blocks share each tile beyond whole waves, and begin with it, at the same places of k, so that
  // they find in L2 what others have loaded. Whole tiles follow, while the last of the blocks adds up.
  const int tiles = tiling.matrix() * problem.batch, block = blockIdx.x;
  const int rest = tiles % Schedule::grid_blocks;
  const int sharers = min(min(Schedule::grid_blocks / max(rest, 1), tiling.steps), most_sharers);
  const int part = block % sharers;
  int index = block < rest * sharers ? block / sharers : rest + block;
  while (index < tiles) {
    const bool shared = index < rest;
    const WorkUnit unit = shared
                              ? WorkUnit{part * tiling.steps / sharers, (part + 1) * tiling.steps / sharers}
                              : WorkUnit{0, tiling.steps};
    visit(locate(index, tiling), unit, Peers{block - part, sharers});
    index = shared ? rest + block : index + Schedule::grid_blocks;
  }
#endif
}
