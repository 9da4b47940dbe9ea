#pragma once
#include "cuda/shared_memory.cuh"
#include "selection/highest_reached.cuh"
#include "selection/sampling/parameters.cuh"
// A block for each row. What may be drawn is found by halving the range of floors, and the token by halving
// that of columns, with a sum over the row each time.

// What `combine` makes of a number of each entry of a row.
template <int threads, class Combine, class NumberOf>
__device__ __forceinline__ Mass fold_row(const Element* row, int columns, Combine combine,
                                         NumberOf number_of) {
  Mass value = 0;
  for (int column = threadIdx.x; column < columns; column += threads) {
    value = combine(value, number_of(entry_of(key_of(row[column]), column)));
  }
  value = reduce_row<threads>(value, combine, dynamic_shared<Mass>());
  __syncthreads();
  return value;
}

template <int threads>
__device__ __forceinline__ void sampling_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x;
  const Element* x = arguments.x + row * problem.ldx;
  const Parameters parameters(arguments, row, problem.columns);
  const int columns = problem.columns;
  const Entry first = fold_row<threads>(x, columns, LargerEntry(), [](Entry entry) { return entry; });
  long long token = column_of(first);
  if (is_void(first)) {
    token = -1;
  } else if (!parameters.greedy) {
    const float top = __fmul_rn(value_of(key_of_entry(first)), parameters.scale);
#if min_p && source == probs
    const Mass least = least_weight(parameters.share, Weights{parameters.scale, top, 0}.of(top));
    const Weights weights{parameters.scale, top, least};
#else
    const Weights weights{parameters.scale, top, parameters.least};
#endif
    Entry floor = 1;
    if (parameters.k > 0) {
      const Mass k = parameters.k;
      floor = highest_reached(Entry{1}, ~Entry{0}, k, k, [&](Entry floor) {
        return fold_row<threads>(x, columns, Sum(), [=](Entry entry) { return Mass{entry >= floor}; });
      });
    }
    const auto mass_from = [&](Entry from) {
      return fold_row<threads>(x, columns, Sum(), [=](Entry entry) {
        return entry >= from && entry >= floor ? weights.of(entry) : 0;
      });
    };
    if (parameters.p < 1.0f) {
      const Mass share = share_of(parameters.p, mass_from(floor));
      floor = highest_reached(floor, ~Entry{0}, share, share, mass_from);
    }
    const auto mass_to = [&](int column) {
      return fold_row<threads>(x, columns, Sum(), [=](Entry entry) {
        return entry >= floor && column_of(entry) <= column ? weights.counted(entry) : 0;
      });
    };
    const Mass drawn = __umul64hi(random_bits(arguments, row), mass_to(columns));
    int low = 0, high = columns - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (mass_to(middle) > drawn) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    token = low;
  }
  if (threadIdx.x == 0) arguments.tokens[row] = token;
}
