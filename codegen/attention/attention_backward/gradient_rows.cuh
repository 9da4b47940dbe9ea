#pragma once
#include "attention/attention_backward/passes.cuh"
#include "cuda/number_pairs.cuh"
#if stored_vector == 8
#  include "cuda/transpose_words.cuh"
#endif
// What becomes of sums that tensor cores leave in registers (passes.cuh).

// Numbers of each 16 others as an operand of products with their rows.
template <int products>
__device__ __forceinline__ void round_factors(unsigned (&rounded)[products / 2][4],
                                              const float (&factors)[products][4]) {
#pragma unroll
  for (int i = 0; i < products / 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float (&pair)[4] = factors[2 * i + j / 2];
      rounded[i][j] = pair_of<Element>(pair[j % 2 * 2], pair[j % 2 * 2 + 1]);
    }
  }
}

// Stores so many elements of a lane's two rows of a gradient, `row` and the one 8 below, times a factor, of
// which `rows` are there. All lanes of the warp take part.
template <int products>
__device__ __forceinline__ void store_gradient(Element* gradient, long long stride, int row, int rows,
                                               int elements, const float (&sums)[products][4], float factor) {
  const int place = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool there = row + 8 * half < rows;
    Element* target = gradient + (row + 8 * half) * stride;
#if stored_vector == 8
    // Of each four products, a lane gets all of one from the others of its four.
    constexpr int whole = products / 4 * 4;
#  pragma unroll
    for (int i = 0; i < whole; i += 4) {
      unsigned words[4];
#  pragma unroll
      for (int j = 0; j < 4; ++j)
        words[j] = pair_of<Element>(sums[i + j][2 * half] * factor, sums[i + j][2 * half + 1] * factor);
      transpose_words(words);
      if (there && 8 * (i + place) < elements)
        __stwb(reinterpret_cast<uint4*>(target + 8 * (i + place)),  // an assignment would be four, by words
               make_uint4(words[0], words[1], words[2], words[3]));
    }
#else
    constexpr int whole = 0;
#endif
#pragma unroll
    for (int i = whole; i < products; ++i) {
      const float first = sums[i][2 * half] * factor, second = sums[i][2 * half + 1] * factor;
      const int column = 8 * i + 2 * place;
#if stored_vector > 1
      if (there && column < elements)
        *reinterpret_cast<unsigned*>(target + column) = pair_of<Element>(first, second);
#else
      if (there && column < elements) target[column] = from_float<Element>(first);
      if (there && column + 1 < elements) target[column + 1] = from_float<Element>(second);
#endif
    }
  }
}

// Stores a lane's two rows of the gradients that a pass adds up, `row` and the one 8 below.
template <bool of_keys, bool of_first, bool of_second, int first_products, int second_products>
__device__ __forceinline__ void store_sums(const Arguments& arguments, const Problem& problem,
                                           const OwnRows& own, const Sequence& sequence, int row,
                                           const float (&first)[first_products][4],
                                           const float (&second)[second_products][4]) {
  const long long batch = own.batch;
  const int head = own.head;
  if constexpr (!of_keys) {
    store_gradient(arguments.dq + batch * problem.stride_dq_b + head * problem.stride_dq_h +
                       sequence.query_base * problem.stride_dq_s,
                   problem.stride_dq_s, row, sequence.queries, Problem::head_dim, first, scale_of(arguments));
  } else {
    if constexpr (of_first)
      store_gradient(arguments.dk + batch * problem.stride_dk_b + head * problem.stride_dk_g +
                         sequence.key_base * problem.stride_dk_t,
                     problem.stride_dk_t, row, sequence.keys, Problem::head_dim, first, scale_of(arguments));
    if constexpr (of_second)
      store_gradient(arguments.dv + batch * problem.stride_dv_b + head * problem.stride_dv_g +
                         sequence.key_base * problem.stride_dv_t,
                     problem.stride_dv_t, row, sequence.keys, Problem::value_dim, second, 1.0f);
  }
}
