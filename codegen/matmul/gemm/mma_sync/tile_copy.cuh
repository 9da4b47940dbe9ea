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
      const int below = round * rows_at_once - (behind ? half : 0);  // rows from this thread's first one on
      const int left = below < rows_left_ ? columns_left_ : 0;
      const Element* from = behind ? source + jump_ : source;
      if constexpr (asynchronous) {
        copy(tile + offset(round), from, left, below + 1 == rows_left_);
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

  // Of a vector within which a row ends, the elements behind become zeros. They are not read, but
  // compute-sanitizer takes cp.async for an access to the whole vector: behind the last row, nothing may be.
  static __device__ __forceinline__ void copy(unsigned char* target, const Element* source, int left,
                                              bool is_last_row) {
    if constexpr (!guarded) {
      async_copy<vector_bytes>(target, source);
    } else if constexpr (!ragged) {
      async_copy_guarded<vector_bytes>(target, source, left > 0 ? vector_bytes : 0);
    } else if (!is_last_row || left <= 0 || left >= vector) {
      const int there = left < 0 ? 0 : left < vector ? left : vector;
      copy_part(target, source, there * static_cast<int>(sizeof(Element)));
    } else {
#pragma unroll 1
      for (int i = 0; i < vector; ++i)
        reinterpret_cast<Element*>(target)[i] = i < left ? source[i] : Element{};
    }
  }

  // Copies the first bytes of a vector; the rest becomes zeros.
  static __device__ __forceinline__ void copy_part(unsigned char* target, const Element* source, int there) {
#ifdef AUTOTUNE_EMULATOR
    autotune_emulator::async_copy(target, source, vector_bytes, there);
#elif __CUDA_ARCH__ >= 800
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(target));
    if constexpr (vector_bytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source), "r"(there)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(source),
                   "n"(vector_bytes), "r"(there)
                   : "memory");
    }
#else
#  pragma unroll
    for (int i = 0; i < vector; ++i)
      reinterpret_cast<Element*>(target)[i] =
          i < there / static_cast<int>(sizeof(Element)) ? source[i] : Element{};
#endif
  }

  const Element* source_;
  long long leading_;
  long long jump_;  // what is added to a place behind the first half
  int rows_left_;
  int columns_left_;
  Element loaded_[asynchronous ? 1 : rounds];
};

#if !gathered_a  // else who includes this has defined it
using CopyA = TileCopy<TileA, Problem::edge_m, Problem::ragged_a>;
#endif
#if !gathered_b  // likewise
#  if gate == halves
using CopyB = TileCopy<TileB, Problem::edge_n, Problem::ragged_b, true>;
#  else
using CopyB = TileCopy<TileB, Problem::edge_n, Problem::ragged_b>;
#  endif
#endif
