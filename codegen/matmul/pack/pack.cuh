#pragma once
#include "cuda/opaque.cuh"
#include "cuda/packed.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#include "matmul/pack/quantise.cuh"
// Codes, scales and zero points of weights. The threads of a group take its vectors in turn, row by row: once
// for its range, then for its codes. All threads of a block take part in reductions; of a group beyond the
// last one nothing is there.

constexpr int width = Schedule::vector_width;
constexpr int of_group = Schedule::threads_per_group;       // threads
constexpr int side_by_side = Schedule::threads / of_group;  // groups of a block
constexpr int items = Schedule::groups_per_thread;
constexpr int stored = width / Problem::packed;  // elements of q for a vector
using Vector = Packed<Element, width>;

// A group of weights, and where its codes go.
class Group {
 public:
  Group() = default;
  __device__ __forceinline__ Group(const Arguments& arguments, const Problem& problem, unsigned index)
      : ldw_(problem.ldw), ldq_(problem.ldq) {
    const bool there = index < static_cast<unsigned>(problem.down) * problem.across;
    const unsigned own = there ? index : 0;
    const int row = static_cast<int>(own / problem.across) * Problem::group_rows;
    rows_ = problem.n - row;
#if group_size > 0
    const int column = static_cast<int>(own % problem.across) * Problem::group_size;
    columns_ = there ? min(problem.k - column, Problem::group_size) : 0;
#else
    constexpr int column = 0;
    columns_ = there ? problem.k : 0;
#endif
    w_ = arguments.w + row * ldw_ + column;
    q_ = arguments.q + row * ldq_ + column / Problem::packed;
  }

  // Weights that are not there are zeros.
  __device__ __forceinline__ Vector load(int vector) const {
    const Place at = place(vector);
    const Element* source = w_ + at.row * ldw_ + at.column;
#if !gathered
    if (at.inside >= width) return load_global<width, Schedule::streaming>(source);
#endif
    Vector part;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      part.elements[i] = from_float<Element>(0.0f);
#if gathered || ragged
      if (i < at.inside) part.elements[i] = source[i];
#endif
    }
    return part;
  }

  __device__ __forceinline__ void store(int vector, const Vector& weights, const Scaling& scaling) const {
    const Place at = place(vector);
    float w[width];
    to_floats(w, weights.elements);
    Packed<Code, stored> codes;
    to_codes(codes.elements, w, scaling);
    Code* target = q_ + at.row * ldq_ + at.column / Problem::packed;
#if !scattered
    if (at.inside >= width) {
      store_global<Schedule::streaming>(target, codes);
      return;
    }
#endif
#if scattered || ragged
#  pragma unroll
    for (int i = 0; i < stored; ++i) {
#  if packed > 1
      if (2 * i + 1 == at.inside) codes.elements[i] &= 15;  // the last one, with nothing in its upper half
#  endif
      if (i * Problem::packed < at.inside) target[i] = codes.elements[i];
    }
#endif
  }

 private:
  // Where a vector is in the group, and how many of its weights are there: none, some or all.
  struct Place {
    int row, column, inside;
  };

  __device__ __forceinline__ Place place(int vector) const {
#if group_rows > 1
    constexpr int of_row = Problem::group_size / width;
    const int row = vector / of_row, column = vector % of_row * width;
    return {row, column, row < min(rows_, Problem::group_rows) ? columns_ - column : 0};
#else
    return {0, vector * width, columns_ - vector * width};
#endif
  }

  const Element* w_;
  Code* q_;
  long long ldw_, ldq_;
  int rows_, columns_;
};

#if held
// The thread's vectors of its groups, all of whose loads are in flight at once.
class Vectors {
 public:
  __device__ __forceinline__ Vectors(const Problem&, const Group (&groups)[items]) {
#  pragma unroll
    for (int item = 0; item < items; ++item) {
#  pragma unroll
      for (int round = 0; round < Problem::rounds; ++round) {
        vectors_[item][round] = groups[item].load(number(round));
      }
    }
  }

  // Calls `visit` with each vector, its number in its group, and that of the group.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#  pragma unroll
    for (int item = 0; item < items; ++item) {
#  pragma unroll
      for (int round = 0; round < Problem::rounds; ++round) {
        make_words_opaque(vectors_[item][round]);  // converted anew, rather than kept as floats
        visit(vectors_[item][round], number(round), item);
      }
    }
  }

 private:
  static __device__ __forceinline__ int number(int round) {
    return round * of_group + threadIdx.x % of_group;
  }

  Vector vectors_[items][Problem::rounds];
};
#else
// Vectors of groups that are loaded anew each time, some at once.
class Vectors {
 public:
  __device__ __forceinline__ Vectors(const Problem& problem, const Group (&groups)[items]) : groups_(groups) {
#  if group_size > 0
    count_ = Problem::group_rows * Problem::group_size / width;
#  else
    count_ = (problem.k - 1) / width + 1;
#  endif
  }

  // Calls `visit` with each vector, its number in its group, and that of the group.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
    constexpr int loads = Schedule::loads_in_flight;
#  pragma unroll 1
    for (int first = threadIdx.x % of_group; first < count_; first += loads * of_group) {
      Vector vectors[items][loads];
#  pragma unroll
      for (int item = 0; item < items; ++item) {
#  pragma unroll
        for (int load = 0; load < loads; ++load)
          vectors[item][load] = groups_[item].load(first + load * of_group);
      }
#  pragma unroll
      for (int item = 0; item < items; ++item) {
#  pragma unroll
        for (int load = 0; load < loads; ++load) visit(vectors[item][load], first + load * of_group, item);
      }
    }
  }

 private:
  const Group (&groups_)[items];
  int count_;
};
#endif

__device__ __forceinline__ void pack_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const unsigned first = blockIdx.x * (side_by_side * items) + threadIdx.x / of_group;
  Group groups[items];
#pragma unroll
  for (int item = 0; item < items; ++item) {
    groups[item] = Group(arguments, problem, first + item * side_by_side);
  }
  Vectors vectors(problem, groups);
  Range ranges[items] = {};
  vectors.for_each([&](const Vector& vector, int, int item) {
    float w[width];
    to_floats(w, vector.elements);
#pragma unroll
    for (int i = 0; i < width; ++i) ranges[item].add(w[i]);
  });
  Scaling scalings[items];
#pragma unroll
  for (int item = 0; item < items; ++item) {
    Range* scratch = dynamic_shared<Range>() + item * (Schedule::threads / 32);
    scalings[item] = Scaling(reduce_row<of_group>(ranges[item], Both(), scratch));
    const unsigned index = first + item * side_by_side;
    if (threadIdx.x % of_group == 0 && index < static_cast<unsigned>(problem.down) * problem.across) {
      arguments.scales[index] = scalings[item].scale;
#if zeros
      arguments.zeros[index] = static_cast<unsigned char>(scalings[item].zero);
#endif
    }
  }
  vectors.for_each([&](const Vector& vector, int number, int item) {
    groups[item].store(number, vector, scalings[item]);
  });
}
