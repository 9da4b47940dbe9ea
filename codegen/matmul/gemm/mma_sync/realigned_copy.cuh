#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/opaque.cuh"
#include "matmul/gemm/mma_sync/shared_tiles.cuh"
#if element == float32
#  include "matmul/gemm/mma_sync/tf32_products.cuh"
#endif

// Copies the tiles of an operand whose rows begin anywhere. Of each row of a tile, the aligned units of 16
// bytes that hold it are copied to its place in shared memory: one unit more than the row has, for which
// there is padding. Once they have landed, settle() moves the row to the beginning of its place. A warp has
// whole rows, so that none waits for another. `edge`: as of TileCopy.
template <class Tile, bool edge>
class RealignedCopy {
  using Element = typename Tile::Element;
  static constexpr int size = sizeof(Element);
  static constexpr int row_units = Tile::row_bytes / unit_bytes;
  static constexpr int rows = Tile::rows / (threads / 32);  // of a warp
  static constexpr int rows_at_once = 32 / row_units;
  static constexpr bool guarded = edge || Problem::edge_k;
  // Lanes move a word each, of several rows or of a part of one.
  static constexpr int words = Tile::row_bytes / 4;
  static constexpr int lanes = words < 32 ? words : 32;
  static constexpr int parts = words / lanes;
  static constexpr int rows_moved = 32 / lanes;
  static constexpr int moves = (rows - 1) / rows_moved * parts + parts;
  static constexpr int moves_at_once = moves % 8 == 0 ? 8 : moves % 4 == 0 ? 4 : moves % 2 == 0 ? 2 : 1;
  static constexpr int period = unit_bytes / size;  // rows after which rows begin as far within units again

 public:
  // As of TileCopy; `first` is the first element of the matrix, ahead of which nothing is read.
  __device__ __forceinline__ RealignedCopy(const Element* origin, long long leading, int extent_left,
                                           int k_left, const Element* first)
      : first_(reinterpret_cast<const char*>(first)),
        leading_(leading),
        rows_left_(Tile::along_k ? extent_left : k_left),
        columns_left_(Tile::along_k ? k_left : extent_left) {
    end_ = reinterpret_cast<const char*>(origin + (rows_left_ - 1) * leading + columns_left_);
    origin_ = origin;
    skipped_ =
        static_cast<int>(reinterpret_cast<unsigned long long>(origin + first_row() * leading) % unit_bytes);
    step_ = static_cast<int>(leading * size % unit_bytes);
  }

  // Begins to copy the next tile.
  __device__ __forceinline__ void begin(unsigned char* tile) {
    const int rows_there = rows_left_ < Tile::rows ? rows_left_ : Tile::rows;
    const Element* last = origin_ + (rows_there - 1) * leading_ + Tile::columns;
    if (bytes(origin_) - unit_bytes >= first_ && bytes(last) + unit_bytes <= end_) {
      copy_rows<false>(tile);
    } else {
      copy_rows<true>(tile);
    }
    origin_ += Tile::along_k ? Schedule::block_k : Schedule::block_k * leading_;
    (Tile::along_k ? columns_left_ : rows_left_) -= Schedule::block_k;
  }

  __device__ __forceinline__ void finish(unsigned char*) const {}

  // Moves the rows of a tile whose copies by this thread have landed. Tiles begin as many elements behind
  // each other as have a multiple of 16 bytes, so each row is moved as far in all of them.
  __device__ __forceinline__ void settle(unsigned char* tile) const {
    __syncwarp();  // those by other lanes have landed, too
#pragma unroll
    for (int first = 0; first < moves; first += moves_at_once) {
      unsigned moved[moves_at_once];
#pragma unroll
      for (int i = 0; i < moves_at_once; ++i) {
        const int row = row_of_move(first + i), skipped = (skipped_ + row % period * step_) % unit_bytes;
        if (rows % rows_moved != 0 && row >= rows) break;
        const auto* from = reinterpret_cast<const unsigned*>(tile + place(first + i) + skipped / 4 * 4);
#if element == float32
        moved[i] = near_tf32(from[0]);
#else
        moved[i] = __byte_perm(from[0], from[1], 0x3210 + skipped % 4 * 0x1111);
#endif
      }
      __syncwarp();  // what is written now has been read; the words of later moves lie behind it
#pragma unroll
      for (int i = 0; i < moves_at_once; ++i) {
        if (rows % rows_moved != 0 && row_of_move(first + i) >= rows) break;
        *reinterpret_cast<unsigned*>(tile + place(first + i)) = moved[i];
      }
    }
  }

 private:
  static __device__ __forceinline__ int lane() { return threadIdx.x % 32; }
  static __device__ __forceinline__ int first_row() { return threadIdx.x / 32 * rows; }

  // Which row of the warp a lane moves, and where its word belongs.
  static __device__ __forceinline__ int row_of_move(int move) {
    return move / parts * rows_moved + lane() / lanes;
  }
  static __device__ __forceinline__ int place(int move) {
    return Tile::offset(first_row() + row_of_move(move), (move % parts * lanes + lane() % lanes) * 4);
  }

  static __device__ __forceinline__ const char* bytes(const Element* element) {
    return reinterpret_cast<const char*>(element);
  }

  // Copies the rows of this warp. `at_ends`: units may exceed the matrix.
  template <bool at_ends>
  __device__ __forceinline__ void copy_rows(unsigned char* tile) const {
    constexpr int unrolled = at_ends ? 1 : rows;
    const int columns = columns_left_ < Tile::columns ? columns_left_ : Tile::columns;
    const int rows_left = rows_left_ - first_row(), unit = lane() % row_units;
    const Element* source = origin_ + (first_row() + lane() / row_units) * leading_ + unit * Tile::vector;
#pragma unroll unrolled
    for (int first = 0; first < rows; first += rows_at_once) {
      const int row = first + lane() / row_units;
      if (rows % rows_at_once != 0 && row >= rows) break;
      copy<guarded, at_ends>(tile + Tile::offset(first_row() + row, unit * unit_bytes), source,
                             row < rows_left ? columns - unit * Tile::vector : -unit_bytes);
      source += rows_at_once * leading_;
      make_opaque(source);
    }
    source = origin_ + (first_row() + lane()) * leading_ + Tile::columns;
#pragma unroll unrolled
    for (int first = 0; first < rows; first += 32) {
      const int row = first + lane();
      if (rows % 32 != 0 && row >= rows) break;
      copy<true, at_ends>(tile + Tile::offset(first_row() + row, Tile::row_bytes), source,
                          row < rows_left ? columns - Tile::columns : -unit_bytes);
      source += 32 * leading_;
    }
  }

  // Copies the unit that holds the element at `source`, from which on a row has `left` elements in the tile.
  // Zeros follow these if they may end within the unit (`part`). What exceeds the matrix is copied one by
  // one.
  template <bool part, bool at_ends>
  __device__ __forceinline__ void copy(unsigned char* target, const Element* source, int left) const {
    const int skipped = static_cast<int>(reinterpret_cast<unsigned long long>(source) % unit_bytes);
    const char* low = bytes(source) - skipped;
    const int wanted = skipped + left * size;
    const int there = !part ? unit_bytes : wanted < 0 ? 0 : wanted < unit_bytes ? wanted : unit_bytes;
    if (!at_ends || there == 0 || (low >= first_ && low + unit_bytes <= end_)) {
      async_copy_part(target, low, there);
    } else {
#pragma unroll 1
      for (int i = 0; i < unit_bytes; i += size) {
        const bool inside = low + i >= first_ && i < there;
        *reinterpret_cast<Element*>(target + i) =
            inside ? *reinterpret_cast<const Element*>(low + i) : Element{};
      }
    }
  }

  const char *first_, *end_;  // of the matrix
  const Element* origin_;     // the first element of the next tile
  long long leading_;
  int rows_left_, columns_left_;
  int skipped_, step_;  // bytes from an aligned unit to the warp's first row; how many more to the next row
};
