#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/vector.cuh"
#include "sgemm/layout.cuh"
// Copies of an operand's tiles from global to shared memory, by all threads of the block.

// An operand as its copy sees it: `along_k` if neighbours along k are neighbours in global memory, which
// makes the copy transpose; `guard_extent` and `guard_k` if a tile may stick out of the matrix, where it is
// filled with zeros.
template <class Layout_, bool along_k_, int vector_, Transport transport, bool guard_extent_>
struct Operand {
  using Layout = Layout_;
  static constexpr bool along_k = along_k_;
  static constexpr int vector = vector_;
  static constexpr bool asynchronous = transport == Transport::async_copy;
  static constexpr bool guard_extent = guard_extent_;
  static constexpr bool guarded = guard_extent || Problem::guard_k;
  static_assert(!asynchronous || !along_k || vector == 1, "an asynchronous copy transposes word by word");
};

using OperandA =
    Operand<LayoutA, !Problem::transpose_a, Schedule::vector_a, Schedule::transport_a, Problem::guard_m>;
using OperandB =
    Operand<LayoutB, Problem::transpose_b, Schedule::vector_b, Schedule::transport_b, Problem::guard_n>;

// One thread's part in the copies of an operand's tiles, in the order of k: begin(), then finish(), a tile at
// a time. Through registers, begin() loads and finish() stores; asynchronously, begin() does it all.
template <class Operand>
class TileCopy {
  using Layout = typename Operand::Layout;
  using Index = Problem::Index;
  static constexpr int vector = Operand::vector;
  // Vectors in a row of global memory, in a tile, and of one thread.
  static constexpr int row_vectors = (Operand::along_k ? Schedule::block_k : Layout::extent) / vector;
  static constexpr int tile_vectors = Schedule::block_k * Layout::extent / vector;
  static constexpr int rounds = (tile_vectors + threads - 1) / threads;

 public:
  // `origin` is the first word of the first tile, `extent_left` and `k_left` count the words from there to
  // the edges.
  __device__ __forceinline__ TileCopy(const float* origin, Index leading, int extent_left, int k_left)
      : source_(origin), leading_(leading), extent_left_(extent_left), k_left_(k_left) {}

  __device__ __forceinline__ void begin(float* tile) {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const Place place = vector_of(round);
      if (!place.inside) continue;
      const float* source = source_ + (Operand::along_k ? place.column * leading_ + place.k
                                                        : place.k * leading_ + place.column);
      const int valid = valid_words(place);
      if constexpr (Operand::asynchronous) {
        float* target = tile + Layout::index(place.k, place.column);
        if constexpr (Operand::guarded) {
          async_copy_guarded<4 * vector>(target, source, 4 * valid);
        } else {
          async_copy<4 * vector>(target, source);
        }
      } else {
        load(staged_[round], source, valid);
      }
    }
    source_ += Operand::along_k ? Index{Schedule::block_k} : Schedule::block_k * leading_;
    k_left_ -= Schedule::block_k;
  }

  __device__ __forceinline__ void finish(float* tile) {
    if constexpr (!Operand::asynchronous) {
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        const Place place = vector_of(round);
        if (place.inside) store(tile, place, staged_[round]);
      }
    }
  }

 private:
  // The first word of a vector in the tile; `inside` is false for threads without a vector in the last round.
  struct Place {
    int k;
    int column;
    bool inside;
  };

  static __device__ __forceinline__ Place vector_of(int round) {
    const int index = round * threads + threadIdx.x;
    const int row = index / row_vectors;
    const int word = index % row_vectors * vector;
    const bool inside = tile_vectors % threads == 0 || index < tile_vectors;
    return Operand::along_k ? Place{word, row, inside} : Place{row, word, inside};
  }

  // Words of a vector that lie inside the matrix: 0 … vector.
  __device__ __forceinline__ int valid_words(const Place& place) const {
    if constexpr (!Operand::guarded) return vector;
    const int column_left = Operand::guard_extent ? extent_left_ - place.column : vector;
    const int k_left = Problem::guard_k ? k_left_ - place.k : vector;
    const int along = Operand::along_k ? k_left : column_left;
    const int across = Operand::along_k ? column_left : k_left;
    return across <= 0 ? 0 : along;
  }

  static __device__ __forceinline__ void load(float (&words)[vector], const float* source, int valid) {
    if (!Operand::guarded || valid >= vector) {
      load_constant_vector<vector>(words, source);
    } else {
#pragma unroll
      for (int word = 0; word < vector; ++word) words[word] = word < valid ? __ldg(source + word) : 0.0f;
    }
  }

  static __device__ __forceinline__ void store(float* tile, const Place& place,
                                               const float (&words)[vector]) {
    if constexpr (Operand::along_k) {
#pragma unroll
      for (int word = 0; word < vector; ++word)
        tile[Layout::index(place.k + word, place.column)] = words[word];
    } else {
      copy_vector<vector>(tile + Layout::index(place.k, place.column), words);
    }
  }

  const float* source_;
  Index leading_;
  int extent_left_;
  int k_left_;
  alignas(16) float staged_[Operand::asynchronous ? 1 : rounds][vector];
};
