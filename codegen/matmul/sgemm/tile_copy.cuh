#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/opaque.cuh"
#include "cuda/shared_memory.cuh"
#include "matmul/sgemm/operand.cuh"
// Copies of an operand's tiles from global to shared memory, by all threads of the block.

// One thread's part in the copies of an operand's tiles, in the order of k: begin(), then finish(), a tile at
// a time. Through registers, begin() loads and finish() stores; asynchronously, begin() does it all.
//
// A round copies some whole rows of global memory, or a part of one, with a vector from each thread. The
// places of a thread in all rounds differ by constants, so that one address serves them all.
template <class Operand>
class TileCopy {
  using Layout = typename Operand::Layout;
  using Index = Problem::Index;
  static constexpr int vector = Operand::vector;
  static constexpr int rows = Operand::along_k ? Layout::extent : Schedule::block_k;
  static constexpr int row_words = Operand::along_k ? Schedule::block_k : Layout::extent;
  // Word by word, 8 lanes take the sector of 32 bytes of a row, and 4 rows at once: their places in the
  // transposed tile, 4 words apart from row to row of it, are in 32 banks.
  static constexpr int part_words = Operand::along_k && vector == 1 && row_words % 8 == 0 ? 8 : row_words;
  static constexpr int row_vectors = part_words / vector;
  static constexpr bool whole_rows = row_vectors <= threads;
  static constexpr int rows_a_round = whole_rows ? threads / row_vectors : 1;
  static constexpr int rounds_a_row = row_words / part_words * ((row_vectors + threads - 1) / threads);
  static constexpr int rounds = (rows + rows_a_round - 1) / rows_a_round * rounds_a_row;

 public:
  // `origin` is the first word of the first tile; `extent_left` and `k_left` count the words from there to
  // the edges.
  __device__ __forceinline__ TileCopy(const float* origin, Index leading, int extent_left, int k_left)
      : row_(whole_rows ? threadIdx.x / row_vectors : 0),
        word_((whole_rows ? threadIdx.x % row_vectors : threadIdx.x) * vector),
        source_(origin + row_ * leading + word_),
        target_(Operand::along_k ? Layout::index(word_, row_) : Layout::index(row_, word_)),
        leading_(leading),
        extent_left_(extent_left),
        k_left_(k_left) {
    make_opaque(target_);
    make_opaque(leading_);  // else each round's distance is kept, or computed again, from the arguments
  }

  // The share of `step` out of `steps` in beginning a tile, which begins at a word of shared memory; with
  // `guard_k`, it may stick out of the matrix along k.
  template <bool guard_k>
  __device__ __forceinline__ void begin(int tile, int step, int steps) {
    int first = tile + target_;
    make_opaque(first);
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      if (round * steps / rounds != step || !has_part_in(round)) continue;
      const float* source = source_ + row_step(round) * leading_ + word_step(round);
      if constexpr (!Operand::asynchronous) {
        load_words<vector>(staged_[round], source, valid_words<guard_k>(round));
      } else if constexpr (Operand::guard_extent || guard_k) {
        async_copy_guarded<4 * vector>(place(tile, first, round), source, 4 * valid_words<guard_k>(round));
      } else {
        async_copy<4 * vector>(place(tile, first, round), source);
      }
    }
  }

  __device__ __forceinline__ void finish(int tile) {
    if constexpr (!Operand::asynchronous) {
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        if (has_part_in(round)) store(tile, round);
      }
    }
  }

  // Turns to the next tile along k if there is `more`, else stays.
  __device__ __forceinline__ void advance(bool more) {
    source_ += more ? tile_step<Operand>(leading_) : Index{0};
    make_opaque(source_);
    k_left_ -= more ? Schedule::block_k : 0;
  }
  // Turns to another tile along k, some tiles from this one; from then on none sticks out.
  __device__ __forceinline__ void jump(int tiles) {
    source_ += static_cast<long long>(tiles) * tile_step<Operand>(leading_);
  }

 private:
  static __device__ __forceinline__ constexpr int row_step(int round) {
    return round / rounds_a_row * rows_a_round;
  }
  static __device__ __forceinline__ constexpr int word_step(int round) {
    return round % rounds_a_row * (whole_rows ? part_words : threads * vector);
  }

  // False for threads that are left over, where rows or threads do not divide evenly.
  __device__ __forceinline__ bool has_part_in(int round) const {
    if constexpr (whole_rows) {
      if (threads % row_vectors && row_ >= rows_a_round) return false;
      return rows % rows_a_round == 0 || row_ + row_step(round) < rows;
    } else {
      return row_vectors % threads == 0 || word_ + word_step(round) < row_vectors * vector;
    }
  }

  static __device__ __forceinline__ constexpr int k_step(int round) {
    return Operand::along_k ? word_step(round) : row_step(round);
  }
  static __device__ __forceinline__ constexpr int column_step(int round) {
    return Operand::along_k ? row_step(round) : word_step(round);
  }
  __device__ __forceinline__ int k() const { return Operand::along_k ? word_ : row_; }
  __device__ __forceinline__ int column() const { return Operand::along_k ? row_ : word_; }

  // Where a word of the round's vector goes in the tile, whose first word from this thread goes to `first`:
  // as far from there as in all threads, if the layout allows.
  __device__ __forceinline__ float* place(int tile, int first, int round, int word = 0) const {
    if constexpr (Layout::constant_steps(Operand::along_k ? vector : rows_a_round)) {
      return dynamic_shared<float>() + first + Layout::index(k_step(round) + word, column_step(round));
    } else {
      const int index = Layout::index(k() + k_step(round) + word, column() + column_step(round));
      return dynamic_shared<float>() + tile + index;
    }
  }

  // Words of a vector that lie inside the matrix: vector or more, or what is left, which may be negative.
  template <bool guard_k>
  __device__ __forceinline__ int valid_words(int round) const {
    const int column_left = Operand::guard_extent ? extent_left_ - column() - column_step(round) : vector;
    const int k_left = guard_k ? k_left_ - k() - k_step(round) : vector;
    const int along = Operand::along_k ? k_left : column_left;
    const int across = Operand::along_k ? column_left : k_left;
    return across <= 0 ? 0 : along;
  }

  __device__ __forceinline__ void store(int tile, int round) const {
    if constexpr (Operand::along_k) {
#pragma unroll
      for (int word = 0; word < vector; ++word)
        *place(tile, tile + target_, round, word) = staged_[round][word];
    } else {
      copy_vector<vector>(place(tile, tile + target_, round), staged_[round]);
    }
  }

  int row_;   // of this thread's vector in the first round, in global memory
  int word_;  // its first word in that row
  const float* source_;
  int target_;  // its place in the tile in shared memory
  Index leading_;
  int extent_left_;
  int k_left_;
  alignas(16) float staged_[Operand::asynchronous ? 1 : rounds][vector];
};
