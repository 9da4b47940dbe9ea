#pragma once
// What each block computes: whole tiles of C in turn, or spans of their steps along k (stream-K; Osama et
// al., Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU,
// 2023).

// Part of a tile of C: its steps `first` to last - 1 along k.
struct Piece {
  int first;
  int last;
};

// The blocks that share a tile: `count` of them from `first` on.
struct Sharers {
  int first;
  int count;
};

// With a grid of its own size, the first tiles are streamed: their steps along k, tile after tile, are cut
// into as many spans as there are blocks. Whole waves of tiles follow, so that whoever adds up the pieces of
// a tile does so while other blocks are busy. Only the tile's number need be kept from tile to tile.
class Work {
  static constexpr bool one_tile_each = Schedule::grid_blocks == 0;

 public:
  __device__ __forceinline__ Work(int tiles, int steps) : tiles_(tiles), steps_(steps) {}

  // This block's first tile, and the one that follows `tile`; `tiles` or more if there is none.
  __device__ __forceinline__ int first_tile() const {
    if (one_tile_each) return blockIdx.x;
    return begin(blockIdx.x) < begin(blockIdx.x + 1) ? begin(blockIdx.x) / steps_ : first_whole();
  }
  __device__ __forceinline__ int next_tile(int tile) const {
    if (one_tile_each) return tiles_;
    if (tile >= streamed()) return tile + gridDim.x;
    return (tile + 1) * steps_ < begin(blockIdx.x + 1) ? tile + 1 : first_whole();
  }

  // This block's piece of one of its tiles.
  __device__ __forceinline__ Piece piece(int tile) const {
    if (tile >= streamed()) return {0, steps_};
    const int origin = tile * steps_;
    return {max(begin(blockIdx.x) - origin, 0), min(begin(blockIdx.x + 1) - origin, steps_)};
  }

  __device__ __forceinline__ Sharers sharers(int tile) const {
    const int first = block_of(tile * steps_);
    return {first, block_of(tile * steps_ + steps_ - 1) - first + 1};
  }

 private:
  // All tiles if they are less than two waves, else what is over from whole waves and one wave more: then a
  // block's span is longer than a tile, and a tile is shared by three blocks at most.
  __device__ __forceinline__ int streamed() const {
    const int waves = tiles_ / gridDim.x;
    if (one_tile_each || tiles_ % gridDim.x == 0) return 0;
    return waves < 2 ? tiles_ : tiles_ - (waves - 1) * static_cast<int>(gridDim.x);
  }
  __device__ __forceinline__ int first_whole() const { return streamed() + blockIdx.x; }

  // The first blocks have one step more where the steps do not divide evenly.
  __device__ __forceinline__ int steps_a_block() const { return streamed() * steps_ / gridDim.x; }
  __device__ __forceinline__ int longer_blocks() const { return streamed() * steps_ % gridDim.x; }
  __device__ __forceinline__ int begin(int block) const {
    return block * steps_a_block() + min(block, longer_blocks());
  }
  __device__ __forceinline__ int block_of(int step) const {
    const int longer = longer_blocks() * (steps_a_block() + 1);
    return step < longer ? step / (steps_a_block() + 1) : longer_blocks() + (step - longer) / steps_a_block();
  }

  int tiles_;
  int steps_;
};
