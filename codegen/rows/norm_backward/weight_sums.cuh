#pragma once
#include "rows/row.cuh"
// `WeightSums`: the sums over rows, of columns of a thread, that become gradients of weights and biases. The
// workspace has a row of those of weights for each block, then one of those of biases.

// The number of terms, of which a term of each column goes to its weight and to its bias.
#if weighted || biased
struct PartialRows {
  float* weights;
  float* biases;

  __device__ __forceinline__ PartialRows(const Arguments& arguments, const Problem& problem) {
    const long long columns = problem.columns;
    weights = static_cast<float*>(arguments.workspace) + blockIdx.x * columns;
#  if weighted
    biases = weights + gridDim.x * columns;
#  else
    biases = weights;
#  endif
  }
};

// By up to 16 bytes: of 4, neighbouring threads would store to different sectors.
__device__ __forceinline__ void store_partial(float* target, const float (&sums)[Schedule::vector_width],
                                              Span inside) {
#  if ragged
#    pragma unroll
  for (int i = 0; i < Schedule::vector_width; ++i) {
    if (inside.has(i)) target[i] = sums[i];
  }
#  else
  constexpr int width = Schedule::vector_width < 4 ? Schedule::vector_width : 4;
  if (!inside.whole()) return;  // nothing is inside
#    pragma unroll
  for (int i = 0; i < Schedule::vector_width; i += width) {
    Packed<float, width> part;
#    pragma unroll
    for (int j = 0; j < width; ++j) part.elements[j] = sums[i + j];
    store_global<false>(target + i, part);
  }
#  endif
}
#endif

#if !weighted && !biased
struct WeightSums {
  __device__ __forceinline__ WeightSums(const Arguments&, const Problem&, int) {}
  __device__ __forceinline__ void add(const float (&)[Schedule::vector_width],
                                      const float (&)[Schedule::vector_width], int) {}
  __device__ __forceinline__ void store() {}
};
#elif hold != reload
class WeightSums {
 public:
  __device__ __forceinline__ WeightSums(const Arguments& arguments, const Problem& problem, int column)
      : partials_(arguments, problem), columns_{0, problem.columns - column}, column_(column) {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
#  pragma unroll
      for (int i = 0; i < Schedule::vector_width; ++i) {
#  if weighted
        weights_[round][i] = 0.0f;
#  endif
#  if biased
        biases_[round][i] = 0.0f;
#  endif
      }
    }
  }

  // What a row adds: dy · x̂ for weights, dy for biases.
  __device__ __forceinline__ void add(const float (&normal)[Schedule::vector_width],
                                      const float (&dy)[Schedule::vector_width], int round) {
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
#  if weighted
      weights_[round][i] += dy[i] * normal[i];
#  endif
#  if biased
      biases_[round][i] += dy[i];
#  endif
    }
  }

  __device__ __forceinline__ void store() {
#  pragma unroll
    for (int round = 0; round < Problem::rounds; ++round) {
      const Span inside = columns_.from(round * row_step);
      const int column = column_ + round * row_step;
#  if weighted
      store_round(partials_.weights + column, weights_[round], inside);
#  endif
#  if biased
      store_round(partials_.biases + column, biases_[round], inside);
#  endif
    }
  }

 private:
#  if threads_per_row < threads
  // The rows of threads of a block add up theirs in shared memory, in their order.
  __device__ __forceinline__ void store_round(float* target, float (&sums)[Schedule::vector_width],
                                              Span inside) {
    float* all = reinterpret_cast<float*>(dynamic_shared<unsigned char>() + Problem::held_at);
    __syncthreads();
#    pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) all[i * Schedule::threads + threadIdx.x] = sums[i];
    __syncthreads();
    if (threadIdx.x >= Schedule::threads_per_row) return;
#    pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      for (int row = 1; row < rows_per_block; ++row) {
        sums[i] += all[i * Schedule::threads + row * Schedule::threads_per_row + threadIdx.x];
      }
    }
    store_partial(target, sums, inside);
  }
#  else
  __device__ __forceinline__ void store_round(float* target, const float (&sums)[Schedule::vector_width],
                                              Span inside) {
    store_partial(target, sums, inside);
  }
#  endif

  PartialRows partials_;
  Span columns_;
  int column_;
#  if weighted
  float weights_[Problem::rounds][Schedule::vector_width];
#  endif
#  if biased
  float biases_[Problem::rounds][Schedule::vector_width];
#  endif
};
#else
// Of a row of any length, they are kept in the workspace. A block has one row of threads.
class WeightSums {
 public:
  __device__ __forceinline__ WeightSums(const Arguments& arguments, const Problem& problem, int column)
      : partials_(arguments, problem), columns_{0, problem.columns - column}, column_(column) {
    constexpr float zeros[Schedule::vector_width] = {};
    for (int offset = 0; offset < columns_.end; offset += row_step) {
#  if weighted
      store_partial(partials_.weights + column_ + offset, zeros, columns_.from(offset));
#  endif
#  if biased
      store_partial(partials_.biases + column_ + offset, zeros, columns_.from(offset));
#  endif
    }
  }

  __device__ __forceinline__ void add(const float (&normal)[Schedule::vector_width],
                                      const float (&dy)[Schedule::vector_width], int round) {
    const int offset = round * row_step;
    const Span inside = columns_.from(offset);
#  pragma unroll
    for (int i = 0; i < Schedule::vector_width; ++i) {
      if (!inside.has(i)) continue;
#  if weighted
      partials_.weights[column_ + offset + i] += dy[i] * normal[i];
#  endif
#  if biased
      partials_.biases[column_ + offset + i] += dy[i];
#  endif
    }
  }

  __device__ __forceinline__ void store() {}

 private:
  PartialRows partials_;
  Span columns_;
  int column_;
};
#endif
