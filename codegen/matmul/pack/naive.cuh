#pragma once
#include "matmul/pack/quantise.cuh"
// A thread packs a group, weight by weight.

__device__ __forceinline__ void pack_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= static_cast<unsigned>(problem.down) * problem.across) return;
  const int first_row = static_cast<int>(index / problem.across) * Problem::group_rows;
  const int row_end = min(problem.n - first_row, Problem::group_rows) + first_row;
#if group_size > 0
  const int first = static_cast<int>(index % problem.across) * Problem::group_size;
  const int end = min(problem.k - first, Problem::group_size) + first;
#else
  const int first = 0, end = problem.k;
#endif
  Range range = {};
  for (int row = first_row; row < row_end; ++row) {
    for (int i = first; i < end; ++i) range.add(to_float(arguments.w[row * problem.ldw + i]));
  }
  const Scaling scaling(range);
  arguments.scales[index] = scaling.scale;
#if zeros
  arguments.zeros[index] = static_cast<unsigned char>(scaling.zero);
#endif
  for (int row = first_row; row < row_end; ++row) {
    const Element* w = arguments.w + row * problem.ldw;
    Code* q = arguments.q + row * problem.ldq;
    for (int i = first; i < end; i += Problem::packed) {
      float pair[Problem::packed] = {};
      Code code[1];
#pragma unroll
      for (int j = 0; j < Problem::packed; ++j) {
        if (i + j < end) pair[j] = to_float(w[i + j]);
      }
      to_codes(code, pair, scaling);
#if packed > 1
      if (i + 1 == end) code[0] &= 15;
#endif
      q[i / Problem::packed] = code[0];
    }
  }
}
