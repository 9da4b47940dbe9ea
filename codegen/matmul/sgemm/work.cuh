#pragma once
// What each cluster computes: whole tiles of C in turn, or spans of their steps along k (stream-K; Osama et
// al., Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU,
// 2023). A cluster has cluster_k blocks, often one.

__device__ __forceinline__ int cluster_rank() { return blockIdx.x % Schedule::cluster_k; }
__device__ __forceinline__ unsigned cluster_index() { return blockIdx.x / Schedule::cluster_k; }

// Part of a tile of C: its steps `first` to last - 1 along k.
struct Piece {
  int first;
  int last;

  __device__ __forceinline__ int steps() const { return last - first; }

  // This block's share; the first ranks have one step more where the steps do not divide evenly.
  __device__ __forceinline__ Piece share() const {
    const int even = steps() / Schedule::cluster_k, longer = steps() % Schedule::cluster_k;
    const int rank = cluster_rank(), begin = first + rank * even + min(rank, longer);
    return {begin, begin + even + (rank < longer)};
  }
};

// The clusters that share a tile: `count` of them from `first` on.
struct Sharers {
  int first;
  int count;
};

// With a grid of its own size, the first tiles are streamed: their steps along k, tile after tile, are cut
// into as many spans as there are clusters. Whole waves of tiles follow, so that whoever adds up the pieces
// of a tile does so while other clusters are busy. Only the tile's number need be kept from tile to tile.
class Work {
  static constexpr bool one_tile_each = Schedule::grid_blocks == 0;
  // A constant, by which ptxas divides without a division.
  static constexpr unsigned cluster_count = one_tile_each ? 1 : Schedule::grid_blocks / Schedule::cluster_k;

 public:
  __device__ __forceinline__ Work(int tiles, int steps) : tiles_(tiles), steps_(steps) {}

  // This cluster's first tile, and the one that follows `tile`; `tiles` or more if there is none.
  __device__ __forceinline__ int first_tile() const {
    if (one_tile_each) return cluster_index();
    return begin(cluster_index()) < begin(cluster_index() + 1) ? begin(cluster_index()) / steps_
                                                               : first_whole();
  }
  __device__ __forceinline__ int next_tile(int tile) const {
    if (one_tile_each) return tiles_;
    if (tile >= streamed()) return tile + cluster_count;
    return (tile + 1) * steps_ < begin(cluster_index() + 1) ? tile + 1 : first_whole();
  }

  // This cluster's piece of one of its tiles.
  __device__ __forceinline__ Piece piece(int tile) const {
    if (tile >= streamed()) return {0, steps_};
    const int origin = tile * steps_;
    return {max(begin(cluster_index()) - origin, 0), min(begin(cluster_index() + 1) - origin, steps_)};
  }

  __device__ __forceinline__ Sharers sharers(int tile) const {
    const int first = cluster_of(tile * steps_);
    return {first, cluster_of(tile * steps_ + steps_ - 1) - first + 1};
  }

 private:
  // All tiles if they are less than two waves, else what is over from whole waves and one wave more: then a
  // cluster's span is longer than a tile, and a tile is shared by three clusters at most.
  __device__ __forceinline__ int streamed() const {
    const int waves = tiles_ / cluster_count, clusters = cluster_count;
    if (tiles_ % cluster_count == 0) return 0;
    return waves < 2 ? tiles_ : tiles_ - (waves - 1) * clusters;
  }
  __device__ __forceinline__ int first_whole() const { return streamed() + cluster_index(); }

  // The first clusters have one step more where the steps do not divide evenly.
  __device__ __forceinline__ int steps_a_cluster() const { return streamed() * steps_ / cluster_count; }
  __device__ __forceinline__ int longer_clusters() const { return streamed() * steps_ % cluster_count; }
  __device__ __forceinline__ int begin(int cluster) const {
    return cluster * steps_a_cluster() + min(cluster, longer_clusters());
  }
  __device__ __forceinline__ int cluster_of(int step) const {
    const int longer = longer_clusters() * (steps_a_cluster() + 1);
    return step < longer ? step / (steps_a_cluster() + 1)
                         : longer_clusters() + (step - longer) / steps_a_cluster();
  }

  int tiles_;
  int steps_;
};
