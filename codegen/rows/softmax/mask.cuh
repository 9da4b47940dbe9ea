#pragma once
#include "rows/row.cuh"
// Masks of queries and keys, which are applied to vectors of x: flags, of which those that are false make
// -infinity, or what is added to x / temperature, whose sum is rounded as x is.

using MaskElement = Problem::MaskElement;

struct MaskVector {
  MaskElement elements[Schedule::vector_width];
};

// That of a thread's part of a row.
struct Mask {
  const MaskElement* first;
  Span inside;    // from there on
  float inverse;  // of the temperature

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
    MaskVector loaded;
    if (here.whole()) {
#pragma unroll
      for (int i = 0; i < Schedule::vector_width; i += Problem::mask_width) {
        const auto part = load_global<Problem::mask_width, false>(first + offset + i);
#pragma unroll
        for (int j = 0; j < Problem::mask_width; ++j) loaded.elements[i + j] = part.elements[j];
      }
      return loaded;
    }
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      loaded.elements[i] = MaskElement();
      if (here.has(i)) loaded.elements[i] = first[offset + i];
    }
    return loaded;
  }

  __device__ __forceinline__ void apply(Vector& x, const MaskVector& mask) const {
#pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
#if added
      const float sum = fmaf(to_float(x.elements[i]), inverse, to_float(mask.elements[i]));
      x.elements[i] = from_float<Element>(sum);
#else
      if (!mask.elements[i]) x.elements[i] = from_float<Element>(-infinity());
#endif
    }
  }
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
