#pragma once
#include "attention/attention_merge/row.cuh"
#include "cuda/math.cuh"
#include "cuda/numbers.cuh"
// O = A·e^(a - l) + B·e^(b - l): a thread for each row.

__device__ __forceinline__ float natural_power(float x) { return expf(x); }
__device__ __forceinline__ double natural_power(double x) { return exp(x); }

// What is written: the number, or its rounding to the output's type.
__device__ __forceinline__ void store(double* target, double value) { *target = value; }
template <typename Result>
__device__ __forceinline__ void store(Result* target, double value) {
  *target = from_float<Result>(static_cast<float>(value));
}

template <typename Number>
__device__ __forceinline__ void attention_merge_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (number >= problem.rows) return;
  const Row row(problem, static_cast<int>(number));
  const Number a = arguments.first_lse[row.logarithm], b = arguments.second_lse[row.logarithm];
  const bool with_a = a != -infinity(), with_b = b != -infinity();
  const Number top = a > b || a != a ? a : b;
  const Number sum = (with_a ? natural_power(a - top) : 0) + (with_b ? natural_power(b - top) : 0);
  const Problem::Element* first = arguments.first + row.batch * problem.stride_first_b +
                                  row.query * problem.stride_first_s + row.head * problem.stride_first_h;
  const Problem::Element* second = arguments.second + row.batch * problem.stride_second_b +
                                   row.query * problem.stride_second_s + row.head * problem.stride_second_h;
  const long long target =
      row.batch * problem.stride_o_b + row.query * problem.stride_o_s + row.head * problem.stride_o_h;
  for (int i = 0; i < Problem::head_dim; ++i) {
    const Number x = with_a ? natural_power(a - top) / sum * Number(to_float(first[i])) : 0;
    const Number y = with_b ? natural_power(b - top) / sum * Number(to_float(second[i])) : 0;
    store(arguments.o + target + i, x + y);
#if reference
    arguments.o_scale[target + i] = fabs(x) + fabs(y) + fabs(x + y);
#endif
  }
#if lse
  store(arguments.lse + row.logarithm, with_a || with_b ? top + log(sum) : Number(-infinity()));
#endif
}
