#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/opaque.cuh"
#include "cuda/shared_memory.cuh"
#include "matmul/sgemm/operand.cuh"
// Copies of an operand's tiles from global to shared memory by all threads of the block, in the order of k.
//
// A round copies whole rows of global memory, or a part of one, with one vector from each thread. The
// addresses of a thread in all rounds differ by constants.

// One thread's share of the rounds.
template <class Operand>
class TileRounds {
  using Layout = typename Operand::Layout;
  using Index = Problem::Index;
  static constexpr int vector = Operand::vector;
  static constexpr int rows = Operand::along_k ? Layout::extent : Schedule::block_k;
  static constexpr int row_elements = Operand::along_k ? Schedule::block_k : Layout::extent;
  // Single elements: 8 lanes take a sector of 32 bytes of a row, so a warp takes 4 rows. In the transposed
  // tile its elements are in 32 different banks.
  static constexpr int part_elements =
      Operand::along_k && vector == 1 && row_elements % 8 == 0 ? 8 : row_elements;
  static constexpr int row_vectors = part_elements / vector;
  static constexpr bool whole_rows = row_vectors <= threads;
  static constexpr int rows_a_round = whole_rows ? threads / row_vectors : 1;
  static constexpr int rounds_a_row = row_elements / part_elements * ((row_vectors + threads - 1) / threads);

 public:
  static constexpr int count = (rows + rows_a_round - 1) / rows_a_round * rounds_a_row;

  // `origin` is the first element of the first tile. From there, `extent_left` and `k_left` elements are left
  // to the edges of the matrix.
  __device__ __forceinline__ TileRounds(const float* origin, Index leading, int extent_left, int k_left)
      : row_(whole_rows ? threadIdx.x / row_vectors : 0),
        element_((whole_rows ? threadIdx.x % row_vectors : threadIdx.x) * vector),
        source_(origin + row_ * leading + element_),
        target_(Operand::along_k ? Layout::index(element_, row_) : Layout::index(row_, element_)),
        leading_(leading),
        extent_left_(extent_left),
        k_left_(k_left) {
    make_opaque(target_);
    make_opaque(leading_);  // else each round's distance is kept, or computed again, from the arguments
  }

  // False for threads that are left over, where rows or threads do not divide evenly.
  __device__ __forceinline__ bool has_part_in(int round) const {
    if constexpr (whole_rows) {
      if (threads % row_vectors && row_ >= rows_a_round) return false;
      return rows % rows_a_round == 0 || row_ + row_step(round) < rows;
    } else {
      return row_vectors % threads == 0 || element_ + element_step(round) < row_vectors * vector;
    }
  }

  __device__ __forceinline__ const float* source(int round) const {
    return source_ + row_step(round) * leading_ + element_step(round);
  }

  // Offset of this thread's first element in shared memory, for a tile at an offset.
  __device__ __forceinline__ int first(int tile) const { return tile + target_; }

  // Address in shared memory of an element of the round's vector. It is at a constant distance from `first`
  // if the layout allows.
  __device__ __forceinline__ float* target(int tile, int first, int round, int i = 0) const {
#if k_major_a || k_major_b
    if constexpr (Layout::constant_steps(Operand::along_k && !Operand::k_major ? vector : rows_a_round)) {
#else
    if constexpr (Layout::constant_steps(Operand::along_k ? vector : rows_a_round)) {
#endif
      return dynamic_shared<float>() + first + Layout::index(k_step(round) + i, column_step(round));
    } else {
      const int index = Layout::index(k() + k_step(round) + i, column() + column_step(round));
      return dynamic_shared<float>() + tile + index;
    }
  }

  // Elements of the round's vector inside the matrix: `vector` or more, or the remainder, which may be
  // negative.
  template <bool guard_k>
  __device__ __forceinline__ int valid(int round) const {
    const int column_left = Operand::guard_extent ? extent_left_ - column() - column_step(round) : vector;
    const int k_left = guard_k ? k_left_ - k() - k_step(round) : vector;
    const int along = Operand::along_k ? k_left : column_left;
    const int across = Operand::along_k ? column_left : k_left;
    return across <= 0 ? 0 : along;
  }

  // Advances to the next tile along k if there is `more`.
  __device__ __forceinline__ void advance(bool more) {
    source_ += more ? tile_step<Operand>(leading_) : Index{0};
    make_opaque(source_);
    k_left_ -= more ? Schedule::block_k : 0;
  }
#if residue_first

  // Jumps to another tile along k, after which no tile exceeds the matrix.
  __device__ __forceinline__ void jump(int tiles) {
    source_ += static_cast<long long>(tiles) * tile_step<Operand>(leading_);
  }
#endif

 private:
  static __device__ __forceinline__ constexpr int row_step(int round) {
    return round / rounds_a_row * rows_a_round;
  }
  static __device__ __forceinline__ constexpr int element_step(int round) {
    return round % rounds_a_row * (whole_rows ? part_elements : threads * vector);
  }
  static __device__ __forceinline__ constexpr int k_step(int round) {
    return Operand::along_k ? element_step(round) : row_step(round);
  }
  static __device__ __forceinline__ constexpr int column_step(int round) {
    return Operand::along_k ? row_step(round) : element_step(round);
  }
  __device__ __forceinline__ int k() const { return Operand::along_k ? element_ : row_; }
  __device__ __forceinline__ int column() const { return Operand::along_k ? row_ : element_; }

  int row_;      // the row of this thread's vector in the first round, in global memory
  int element_;  // the vector's first element in that row
  const float* source_;
  int target_;  // the vector's offset in the tile in shared memory
  Index leading_;
  int extent_left_;
  int k_left_;
};

// Copies by way of registers: begin() loads a tile, finish() stores it.
#if gathered_a
template <class Operand, class Rounds = TileRounds<Operand> >
class RegisterCopy {
#else
template <class Operand>
class RegisterCopy {
  using Rounds = TileRounds<Operand>;
#endif
  static constexpr int vector = Operand::vector;

 public:
#if gathered_a
  template <class... Place>
  explicit __device__ __forceinline__ RegisterCopy(const Place&... place) : rounds(place...) {}
#else
  __device__ __forceinline__ RegisterCopy(const float* origin, Problem::Index leading, int extent_left,
                                          int k_left)
      : rounds(origin, leading, extent_left, k_left) {}
#endif

  // Loads the share of `step` out of `steps` in a tile. With `guard_k`, the tile may exceed the matrix along
  // k.
  template <bool guard_k>
  __device__ __forceinline__ void begin(int, int step, int steps) {
#pragma unroll
    for (int round = 0; round < Rounds::count; ++round) {
      if (round * steps / Rounds::count != step || !rounds.has_part_in(round)) continue;
#if guard_m || guard_n || guard_k
      load_guarded<vector>(staged_[round], rounds.source(round), rounds.template valid<guard_k>(round));
#else
      load_constant_vector<vector>(staged_[round], rounds.source(round));
#endif
    }
  }

  // Stores the tile at an offset in shared memory.
  __device__ __forceinline__ void finish(int tile) const {
#pragma unroll
    for (int round = 0; round < Rounds::count; ++round) {
      if (rounds.has_part_in(round)) store(tile, round);
    }
  }

  Rounds rounds;

 private:
  __device__ __forceinline__ void store(int tile, int round) const {
    if constexpr (Operand::along_k) {
#pragma unroll
      for (int i = 0; i < vector; ++i) *rounds.target(tile, rounds.first(tile), round, i) = staged_[round][i];
    } else {
      copy_vector<vector>(rounds.target(tile, rounds.first(tile), round), staged_[round]);
    }
  }

  alignas(16) float staged_[Rounds::count][vector];
};

// Asynchronous copies: begin() starts them all; the main loop commits them and waits.
#if gathered_a
template <class Operand, class Rounds = TileRounds<Operand> >
class AsyncCopy {
#else
template <class Operand>
class AsyncCopy {
  using Rounds = TileRounds<Operand>;
#endif
  static constexpr int vector = Operand::vector;
#if !k_major_a && !k_major_b
  static_assert(!Operand::along_k || vector == 1, "an asynchronous copy transposes single elements");
#endif

 public:
#if gathered_a
  template <class... Place>
  explicit __device__ __forceinline__ AsyncCopy(const Place&... place) : rounds(place...) {}
#else
  __device__ __forceinline__ AsyncCopy(const float* origin, Problem::Index leading, int extent_left,
                                       int k_left)
      : rounds(origin, leading, extent_left, k_left) {}
#endif

  // Starts the share of `step` out of `steps` in the copy of a tile to an offset in shared memory. With
  // `guard_k`, the tile may exceed the matrix along k.
  template <bool guard_k>
  __device__ __forceinline__ void begin(int tile, int step, int steps) {
    int first = rounds.first(tile);
    make_opaque(first);
#pragma unroll
    for (int round = 0; round < Rounds::count; ++round) {
      if (round * steps / Rounds::count != step || !rounds.has_part_in(round)) continue;
      const float* source = rounds.source(round);
#if guard_m || guard_n || guard_k
      if constexpr (Operand::guard_extent || guard_k) {
        async_copy_guarded<4 * vector>(rounds.target(tile, first, round), source,
                                       4 * rounds.template valid<guard_k>(round));
        continue;
      }
#endif
      async_copy<4 * vector>(rounds.target(tile, first, round), source);
    }
  }
#if copy_a != copy_b
  __device__ __forceinline__ void finish(int) const {}
#endif

  Rounds rounds;
};
