#pragma once
// Which part of the work each block has. A cluster of cluster_k blocks computes tiles of C or, with stream-K,
// spans of their steps along k.

#if cluster_k > 1
__device__ __forceinline__ int cluster_rank() { return blockIdx.x % Schedule::cluster_k; }

__device__ __forceinline__ unsigned cluster_index() { return blockIdx.x / Schedule::cluster_k; }
#else
__device__ __forceinline__ unsigned cluster_index() { return blockIdx.x; }
#endif

// A range of a tile's steps along k: `first` to last - 1.
struct WorkUnit {
  int first;
  int last;

  __device__ __forceinline__ int steps() const { return last - first; }
#if cluster_k > 1

  // This block's share of its cluster's range. Where the steps do not divide evenly, the first ranks have one
  // more.
  __device__ __forceinline__ WorkUnit share() const {
    const int even = steps() / Schedule::cluster_k, longer = steps() % Schedule::cluster_k;
    const int rank = cluster_rank(), begin = first + rank * even + min(rank, longer);
    return {begin, begin + even + (rank < longer)};
  }
#endif
};

// The order in which a block takes its steps along k: from `first` on, the second one `jump` from there. A
// block that has the last step of all, which is partial, begins with it. If it has no other, it takes the one
// before as the next, for a loop without branches copies that too.
struct StepOrder {
  int first;
  int jump;

  __device__ __forceinline__ StepOrder(const WorkUnit& share, int steps) : first(share.first), jump(1) {
    if (share.last == steps) {
      first = share.last - 1;
      jump = -max(1, share.steps() - 1);
    } else if (share.steps() == 1) {
      jump = 0;
    }
  }
};

// A range of clusters: those that share a tile.
struct Peers {
  int first;
  int count;
};

// Stream-K (Osama et al., Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix
// Multiplication on the GPU, 2023): the steps along k of the first tiles, one tile after the other, are
// divided evenly among the clusters. Whole waves of tiles follow, so that the reduction of a tile overlaps
// with other clusters' work. Only the tile's index is kept from tile to tile.
class TileScheduler {
  // A constant, by which ptxas divides without a division.
#if clusters
  static constexpr unsigned cluster_count = Schedule::grid_blocks / Schedule::cluster_k;
#else
  static constexpr unsigned cluster_count = Schedule::grid_blocks;
#endif

 public:
  __device__ __forceinline__ TileScheduler(int tiles, int steps) : tiles_(tiles), steps_(steps) {}

  // This cluster's first tile, and the one that follows `tile`; `tiles` or more if there is none.
  __device__ __forceinline__ int first_tile() const {
    return begin(cluster_index()) < begin(cluster_index() + 1) ? begin(cluster_index()) / steps_
                                                               : first_whole();
  }
  __device__ __forceinline__ int next_tile(int tile) const {
    if (tile >= streamed()) return tile + cluster_count;
    return (tile + 1) * steps_ < begin(cluster_index() + 1) ? tile + 1 : first_whole();
  }

  // This cluster's range of one of its tiles.
  __device__ __forceinline__ WorkUnit work_unit(int tile) const {
    if (tile >= streamed()) return {0, steps_};
    const int origin = tile * steps_;
    return {max(begin(cluster_index()) - origin, 0), min(begin(cluster_index() + 1) - origin, steps_)};
  }

  __device__ __forceinline__ Peers peers(int tile) const {
    const int first = cluster_of(tile * steps_);
    return {first, cluster_of(tile * steps_ + steps_ - 1) - first + 1};
  }

 private:
  // The tiles whose steps are divided: all if they are less than two waves. Else those beyond whole waves and
  // one wave more, so that a cluster's span is longer than a tile and at most three clusters share a tile.
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
