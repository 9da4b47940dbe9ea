#pragma once
#include "attention/attention_merge/row.cuh"
#include "cuda/math.cuh"
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
// O = A·e^(a - l) + B·e^(b - l): a thread has a vector of a row.

__device__ __forceinline__ void attention_merge_block(const Arguments& arguments) {
  using Element = Problem::Element;
  constexpr int width = Schedule::vector_width, vectors = Problem::head_dim / width;
  const Problem problem(arguments);
  const long long index = blockIdx.x * static_cast<long long>(Schedule::threads) + threadIdx.x;
  if (index >= static_cast<long long>(problem.rows) * vectors) return;
  const int column = static_cast<int>(index % vectors) * width;
  const Row row(problem, static_cast<int>(index / vectors));
  const float first_lse = arguments.first_lse[row.logarithm];
  const float second_lse = arguments.second_lse[row.logarithm];
  const float top = max_nan(first_lse, second_lse);
  const float first_sum = first_lse == -infinity() ? 0.0f : expf(first_lse - top);
  const float second_sum = second_lse == -infinity() ? 0.0f : expf(second_lse - top);
  const float sum = first_sum + second_sum, factor = sum == 0.0f ? 0.0f : 1.0f / sum;
  float values[width];
#pragma unroll
  for (int i = 0; i < width; ++i) values[i] = 0.0f;
  if (first_lse != -infinity()) {
    const auto loaded = load_global<width, false>(arguments.first + row.batch * problem.stride_first_b +
                                                  row.query * problem.stride_first_s +
                                                  row.head * problem.stride_first_h + column);
#pragma unroll
    for (int i = 0; i < width; ++i) values[i] = first_sum * factor * to_float(loaded.elements[i]);
  }
  if (second_lse != -infinity()) {
    const auto loaded = load_global<width, false>(arguments.second + row.batch * problem.stride_second_b +
                                                  row.query * problem.stride_second_s +
                                                  row.head * problem.stride_second_h + column);
#pragma unroll
    for (int i = 0; i < width; ++i)
      values[i] = fmaf(second_sum * factor, to_float(loaded.elements[i]), values[i]);
  }
  Packed<Element, width> stored;
  from_floats(stored.elements, values);
  store_global<false>(arguments.o + row.batch * problem.stride_o_b + row.query * problem.stride_o_s +
                          row.head * problem.stride_o_h + column,
                      stored);
#if lse
  if (column == 0) arguments.lse[row.logarithm] = sum == 0.0f ? -infinity() : top + logf(sum);
#endif
}
