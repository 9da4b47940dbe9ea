#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/opaque.cuh"
#include "cuda/packed.cuh"
#include "matmul/gemm/mma_sync/shared_tiles.cuh"

// Copies the tiles of an operand from global to shared memory, one after the other along k. `edge`: tiles may
// exceed the matrix across k; what lies outside becomes zeros. `ragged`: rows may end within a vector.
// `halves`: the second half of a tile, across k, is elsewhere in the matrix than behind the first.
template <class Tile, bool edge, bool ragged, bool halves = false>
class TileCopy {
  using Element = typename Tile::Element;
  static constexpr int vector = Tile::vector;
  static constexpr int vector_bytes = vector * sizeof(Element);
  static constexpr int row_vectors = Tile::columns / vector;
  static constexpr int rows_at_once = threads / row_vectors;
  static constexpr int rounds = (Tile::rows + rows_at_once - 1) / rows_at_once;
  static constexpr bool whole_rounds = Tile::rows % rows_at_once == 0;
  static constexpr bool asynchronous = vector_bytes >= 4;  // what cp.async copies at least
  static constexpr bool guarded = edge || Problem::edge_k;
  static constexpr int word = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1;  // elements of 4 bytes
  // The last row of a matrix may end within a word: its elements go through registers.
  static constexpr bool tails = ragged && asynchronous && word > 1;
  using Tail = Packed<Element, word>;
  static constexpr int half = halves ? Tile::extent / 2 : 0;  // rows or columns

 public:
  // From `origin`, the first element of the first tile, `extent_left` and `k_left` elements are left to the
  // edges of the matrix. From `second` elements behind it on, in halves, there are as many.
  __device__ __forceinline__ TileCopy(const Element* origin, long long leading, int extent_left, int k_left,
                                      long long second = 0)
      : source_(origin + row() * leading + column()),
        leading_(leading),
        jump_(second - (Tile::along_k ? half * leading : half)),
        rows_left_((Tile::along_k ? extent_left : k_left) - row()),
        columns_left_((Tile::along_k ? k_left : extent_left) - column()) {
    if constexpr (halves && !Tile::along_k) {
      if (column() >= half) source_ += jump_, columns_left_ += half;
    }
  }

  // Begins to copy the next tile.
  __device__ __forceinline__ void begin(unsigned char* tile) {
    const Element* source = source_;
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      if (is_last(round)) break;
      const bool behind = halves && Tile::along_k && row() + round * rows_at_once >= half;
      const int left = left_in(round, rows_left_, columns_left_);
      const Element* from = behind ? source + jump_ : source;
      if constexpr (asynchronous) {
        const bool tail = ends_within_word(round, rows_left_, left);
        copy(tile + offset(round), from, left, tail);
        if (tail) tail_ = last_elements(from, left);
      } else {
        loaded_[round] = !guarded || left > 0 ? load_global<1, false>(from).elements[0] : Element{};
      }
      source += rows_at_once * leading_;
      make_opaque(source);
    }
    source_ += Tile::along_k ? Schedule::block_k : Schedule::block_k * leading_;
    (Tile::along_k ? columns_left_ : rows_left_) -= Schedule::block_k;
  }

  // Completes what begin() has left to registers.
  __device__ __forceinline__ void finish(unsigned char* tile) const {
    if constexpr (!asynchronous) {
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        if (is_last(round)) break;
        *reinterpret_cast<Element*>(tile + offset(round)) = loaded_[round];
      }
    } else if constexpr (tails) {
      constexpr int columns = Tile::along_k ? Schedule::block_k : 0, rows = Schedule::block_k - columns;
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        if (is_last(round)) break;
        const int left = left_in(round, rows_left_ + rows, columns_left_ + columns);  // as before begin()
        if (ends_within_word(round, rows_left_ + rows, left))
          *reinterpret_cast<Tail*>(tile + offset(round) + left / word * 4) = tail_;
      }
    }
  }

 private:
  // The first vector of this thread in a tile; the others are below it.
  static __device__ __forceinline__ int row() { return threadIdx.x / row_vectors; }
  static __device__ __forceinline__ int column() { return threadIdx.x % row_vectors * vector; }
  static __device__ __forceinline__ bool is_last(int round) {
    return !whole_rounds && row() + round * rows_at_once >= Tile::rows;
  }
  static __device__ __forceinline__ int offset(int round) {
    return Tile::offset(row() + round * rows_at_once, column() * static_cast<int>(sizeof(Element)));
  }

  // Elements from a vector's first one to the end of its row; none of a row outside of the matrix.
  static __device__ __forceinline__ int left_in(int round, int rows_left, int columns_left) {
    return below(round) < rows_left ? columns_left : 0;
  }
  // Rows from this thread's first one to that of a round, in its half.
  static __device__ __forceinline__ int below(int round) {
    const bool behind = halves && Tile::along_k && row() + round * rows_at_once >= half;
    return round * rows_at_once - (behind ? half : 0);
  }
  // Whether the last row of the matrix ends within a word of this vector. What is behind is not read, but
  // compute-sanitizer takes cp.async for an access to the whole word. The other rows have a row behind them.
  static __device__ __forceinline__ bool ends_within_word(int round, int rows_left, int left) {
    return tails && below(round) + 1 == rows_left && 0 < left && left < vector && left % word != 0;
  }

  static __device__ __forceinline__ void copy(unsigned char* target, const Element* source, int left,
                                              bool tail) {
    if constexpr (!guarded) {
      async_copy<vector_bytes>(target, source);
    } else if (!ragged || left <= 0 || left >= vector) {
      async_copy_guarded<vector_bytes>(target, source, left > 0 ? vector_bytes : 0);
    } else {
#pragma unroll
      for (int i = 0; i < vector; i += word) {
        const int valid = i + word <= left ? word : i < left ? left - i : 0;
        if (!tail || valid == 0 || valid == word)
          copy_word(target + i * sizeof(Element), source + i, valid * static_cast<int>(sizeof(Element)));
      }
    }
  }

  // Copies the first bytes of a word; the rest becomes zeros.
  static __device__ __forceinline__ void copy_word(unsigned char* target, const Element* source, int bytes) {
#ifdef AUTOTUNE_EMULATOR
    autotune_emulator::async_copy(target, source, 4, bytes);
#elif __CUDA_ARCH__ >= 800
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(target));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(source), "r"(bytes)
                 : "memory");
#else
#  pragma unroll
    for (int i = 0; i < word; ++i)
      reinterpret_cast<Element*>(target)[i] =
          i < bytes / static_cast<int>(sizeof(Element)) ? source[i] : Element{};
#endif
  }

  // The elements of the word within which a row ends, and zeros behind them.
  static __device__ __forceinline__ Tail last_elements(const Element* source, int left) {
    Tail last{};
#pragma unroll
    for (int i = 0; i < word - 1; ++i)
      if (i < left % word) last.elements[i] = source[left / word * word + i];
    return last;
  }

  const Element* source_;
  long long leading_;
  long long jump_;  // what is added to a place behind the first half
  int rows_left_;
  int columns_left_;
  Element loaded_[asynchronous ? 1 : rounds];
  Tail tail_;  // of the last row of the matrix
};

#if !gathered_a  // else who includes this has defined it
using CopyA = TileCopy<TileA, Problem::edge_m, Problem::ragged_a>;
#endif
#if gate == halves
using CopyB = TileCopy<TileB, Problem::edge_n, Problem::ragged_b, true>;
#else
using CopyB = TileCopy<TileB, Problem::edge_n, Problem::ragged_b>;
#endif
