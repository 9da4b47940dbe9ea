#pragma once
#include "rows/row.cuh"
#include "rows/row_floats.cuh"
// Masks of queries and keys, which are applied to vectors of x: flags, of which those that are false make
// -infinity, or what is added to x / temperature, whose sum is rounded as x is.

using MaskElement = Problem::MaskElement;

// That of a vector, as it was loaded: what would be taken apart here would be waited for.
struct MaskVector {
  Packed<MaskElement, Problem::mask_width> parts[Schedule::vector_width / Problem::mask_width];

  __device__ __forceinline__ MaskElement& operator[](int i) {
    return parts[i / Problem::mask_width].elements[i % Problem::mask_width];
  }
  __device__ __forceinline__ const MaskElement& operator[](int i) const {
    return parts[i / Problem::mask_width].elements[i % Problem::mask_width];
  }
};

// That of a thread's part of a row.
struct Mask {
  const MaskElement* first;
  Span inside;    // from there on
  float inverse;  // 1 / temperature

  __device__ __forceinline__ Mask(const Arguments& arguments, const Problem& problem, const RowPart& part,
                                  Span inside)
      : inside(inside), inverse(fmaxf(1.0f / arguments.temperature, 1.2e-38f)) {
    const unsigned row = static_cast<unsigned>(part.row), queries = static_cast<unsigned>(problem.queries);
    const unsigned block = row / queries, query = row % queries;
    const long long of_mask = static_cast<long long>(block / problem.heads) * queries + query;
    first = arguments.mask + of_mask * problem.ldm + part.column;
  }

  __device__ __forceinline__ MaskVector load(int offset) const {
    const Span here = inside.from(offset);
    MaskVector loaded = {};
    if (here.whole()) {
#pragma unroll
      for (int i = 0; i < Schedule::vector_width; i += Problem::mask_width) {
        loaded.parts[i / Problem::mask_width] = load_global<Problem::mask_width, false>(first + offset + i);
      }
      return loaded;
    }
#if partial
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      if (here.has(i)) loaded[i] = first[offset + i];
    }
#endif
    return loaded;
  }

#if added
  __device__ __forceinline__ void apply(Vector& x, const MaskVector& mask) const {
    float numbers[Schedule::vector_width];
    row_floats(numbers, x);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; i += Problem::mask_width) {
      float terms[Problem::mask_width];
      row_floats(terms, mask.parts[i / Problem::mask_width]);
#  pragma unroll
      for (int j = 0; j < Problem::mask_width; ++j) numbers[i + j] = fmaf(numbers[i + j], inverse, terms[j]);
    }
    from_floats(x.elements, numbers);
  }
#else
  template <typename Number, int width>
  __device__ __forceinline__ void apply(Packed<Number, width>& x, const MaskVector& mask) const {
    const Number nothing = from_float<Number>(-infinity());
    if constexpr (sizeof(Number) == 2 && Problem::mask_width % 4 == 0) {
      // Four flags, each 0 or 1, become as many masks of 16 bits.
      const unsigned pair = 0x10001u * nothing.bits;
      unsigned* words = reinterpret_cast<unsigned*>(&x);
      const unsigned* flags = reinterpret_cast<const unsigned*>(&mask);
#  pragma unroll
      for (int i = 0; i < width / 2; ++i) {
        const unsigned kept = __byte_perm(255 * flags[i / 2], 0, i % 2 == 0 ? 0x1100 : 0x3322);
        words[i] = (words[i] & kept) | (pair & ~kept);
      }
    } else {
#  pragma unroll
      for (int i = 0; i < width; ++i) {
        if (!mask[i]) x.elements[i] = nothing;
      }
    }
  }
#endif
};

#if hold == registers
// Rows in registers: all loads of a row and of its mask are in flight at once.
class MaskedValues : public RowValues {
 public:
  __device__ __forceinline__ MaskedValues(const Arguments& arguments, const Problem& problem,
                                          const RowPart& part, const Mask& mask, Element fill)
      : RowValues(arguments.x + part.row * problem.ldx + part.column, part.columns, mask.inside, fill) {
    MaskVector masks[Problem::rounds];
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) masks[round] = mask.load(round * row_step);
    for_each([&](Vector& vector, int offset) { mask.apply(vector, masks[offset / row_step]); });
  }
};
#else
// Rows of any length: where the result will be, they wait with their mask to be read again.
class MaskedValues : public RowValues {
 public:
  __device__ __forceinline__ MaskedValues(const Arguments& arguments, const Problem& problem,
                                          const RowPart& part, const Mask& mask, Element fill)
      : RowValues(arguments.y + part.row * problem.ldy + part.column, part.columns, part.columns, fill) {
    const Element* x = arguments.x + part.row * problem.ldx + part.column;
    Element* y = arguments.y + part.row * problem.ldy + part.column;
#  pragma unroll 1
    for (int begin = 0; begin < part.columns.end; begin += Schedule::loads_in_flight * row_step) {
      Vector vectors[Schedule::loads_in_flight];
      MaskVector masks[Schedule::loads_in_flight];
#  pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        const int offset = begin + i * row_step;
        vectors[i] = load_row_vector<true>(x + offset, mask.inside.from(offset), fill);
        masks[i] = mask.load(offset);
      }
#  pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        const int offset = begin + i * row_step;
        mask.apply(vectors[i], masks[i]);
        store_row_vector(y + offset, vectors[i], part.columns.from(offset));
      }
    }
  }
};
#endif
