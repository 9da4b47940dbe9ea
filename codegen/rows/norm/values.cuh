#pragma once
#include "rows/values.cuh"
// `NormValues`: the vectors of the row to normalise that a thread has, as `RowValues` has them. With a
// residual they are sums, rounded as they are stored.

#if residual
// Adds the residual to a row, and stores the sum.
struct AddResidual {
  const Element* x;  // the thread's first elements
  const Element* residual;
  Element* sum;
  Span columns;

  __device__ __forceinline__ AddResidual(const Arguments& arguments, const Problem& problem,
                                         const RowPart& part)
      : columns(part.columns) {
    const long long first = part.row * problem.ldx + part.column;
    x = arguments.x + first;
    residual = arguments.residual + first;
    sum = arguments.sum + first;
  }

  __device__ __forceinline__ Vector load(const Element* source, int offset) const {
    return load_row_vector<true>(source + offset, columns.from(offset), from_float<Element>(0.0f));
  }

  __device__ __forceinline__ Vector added(const Vector& a, const Vector& b, int offset) const {
    Vector result;
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      result.elements[i] = from_float<Element>(__fadd_rn(to_float(a.elements[i]), to_float(b.elements[i])));
    }
    store_row_vector(sum + offset, result, columns.from(offset));
    return result;
  }
};
#endif

#if residual && hold == registers
class NormValues {
 public:
  __device__ __forceinline__ NormValues(const Arguments& arguments, const Problem& problem,
                                        const RowPart& part) {
    const AddResidual add(arguments, problem, part);
    Vector residual[Problem::rounds];
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      vectors_[round] = add.load(add.x, round * row_step);
      residual[round] = add.load(add.residual, round * row_step);
    }
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      vectors_[round] = add.added(vectors_[round], residual[round], round * row_step);
    }
  }

  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      make_words_opaque(vectors_[round]);
      visit(vectors_[round], round * row_step);
    }
  }

  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    for_each(visit);
  }

 private:
  Vector vectors_[Problem::rounds];
};
#elif residual
// The sum is read again where it was stored.
class NormValues : public RowValues {
 public:
  __device__ __forceinline__ NormValues(const Arguments& arguments, const Problem& problem,
                                        const RowPart& part)
      : RowValues(arguments.sum + part.row * problem.ldx + part.column, part.columns, part.columns,
                  from_float<Element>(0.0f)) {
    const AddResidual add(arguments, problem, part);
#  pragma unroll 1
    for (int begin = 0; begin < part.columns.end; begin += Schedule::loads_in_flight * row_step) {
      Vector x[Schedule::loads_in_flight], residual[Schedule::loads_in_flight];
#  pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) {
        x[i] = add.load(add.x, begin + i * row_step);
        residual[i] = add.load(add.residual, begin + i * row_step);
      }
#  pragma unroll
      for (int i = 0; i < Schedule::loads_in_flight; ++i) add.added(x[i], residual[i], begin + i * row_step);
    }
  }
};
#else
class NormValues : public RowValues {
 public:
  __device__ __forceinline__ NormValues(const Arguments& arguments, const Problem& problem,
                                        const RowPart& part)
      : RowValues(arguments.x + part.row * problem.ldx + part.column, part.columns, part.columns,
                  from_float<Element>(0.0f)) {}
};
#endif
