#pragma once
#include "cuda/opaque.cuh"
#include "rows/row.cuh"
// A row held in registers of which elements count up to an end. Vectors behind it are neither loaded nor
// computed; the one that it lies within is loaded as a whole.

// Elements from the one numbered `count` on become `fill`.
template <typename Number, int width>
__device__ __forceinline__ void fill_from(Packed<Number, width>& vector, int count, Number fill) {
  if constexpr (sizeof(Number) == 2 && width % 2 == 0) {  // by words, which stay in words
    const unsigned pair = 0x10001u * fill.bits;
    unsigned* words = reinterpret_cast<unsigned*>(&vector);
#pragma unroll
    for (int i = 0; i < width; i += 2) {
      const unsigned kept = i + 1 < count ? 0xffffffffu : i < count ? 0xffffu : 0u;
      words[i / 2] = (words[i / 2] & kept) | (pair & ~kept);
    }
  } else {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (i >= count) vector.elements[i] = fill;
    }
  }
}

class CountedValues {
 public:
  // `first` is the thread's first element of the row; from there on, there are `columns`, of which those
  // before `end` count. Others count as `fill`.
  __device__ __forceinline__ CountedValues(const Element* first, Span columns, int end, Element fill)
      : end_(end), fill_(fill) {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      const int offset = round * row_step;
      const Span inside = counts(offset) ? columns.from(offset) : Span{0, 0};
      vectors_[round] = load_row_vector<true>(first + offset, inside, fill);
    }
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      const int count = end_ - round * row_step;
      if (0 < count && count < Schedule::vector_width) fill_from(vectors_[round], count, fill);
    }
  }

  // Whether something counts of the vector that is so far from the first element.
  __device__ __forceinline__ bool counts(int offset) const { return offset < end_; }

  // Calls `visit` with each vector of which something counts, and its offset from the first element.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      make_words_opaque(vectors_[round]);  // see RowValues
      if (counts(round * row_step)) visit(vectors_[round], round * row_step);
    }
  }

  // The same for the last time, of all vectors: what is behind the end has one result.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    Vector nothing;
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) nothing.elements[i] = fill_;
#pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      make_words_opaque(vectors_[round]);
      if (counts(round * row_step)) {
        visit(vectors_[round], round * row_step);
      } else {
        visit(nothing, round * row_step);
      }
    }
  }

 private:
  Vector vectors_[Problem::rounds];
  int end_;
  Element fill_;
};
