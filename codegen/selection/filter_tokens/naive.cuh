#pragma once
#include "selection/filter_tokens/kept.cuh"
#include "selection/sampling/naive.cuh"
// A block for each row. The floor is found by halving the range of entries, with a sum over the row each
// time.

template <int threads>
__device__ __forceinline__ void filter_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long row = blockIdx.x;
  const Element* x = arguments.x + row * problem.ldx;
  const Parameters parameters(arguments, row, problem.columns);
  const int columns = problem.columns;
  const Entry first = fold_row<threads>(x, columns, LargerEntry(), [](Entry entry) { return entry; });
  Kept kept{first, {parameters.scale, 0.0f, parameters.least}, 1};
  if (is_void(first)) {
    kept.floor = ~Entry{0};
  } else if (parameters.greedy) {
    kept = only(first);
  } else {
    kept.floor = 1;
    kept.weights.top = __fmul_rn(value_of(key_of_entry(first)), parameters.scale);
#if min_p && source == probs
    kept.weights.least = least_weight(parameters.share, kept.weights.of(first));
#endif
    if (parameters.k > 0) {
      const Mass k = parameters.k;
      kept.floor = highest_reached(Entry{1}, ~Entry{0}, k, k, [&](Entry floor) {
        return fold_row<threads>(x, columns, Sum(), [=](Entry entry) { return Mass{entry >= floor}; });
      });
    }
    const auto mass_from = [&](Entry from) {
      return fold_row<threads>(x, columns, Sum(), [=](Entry entry) {
        return entry >= from && entry >= kept.floor ? kept.weights.of(entry) : 0;
      });
    };
    if (parameters.p < 1.0f) {
      const Mass share = share_of(parameters.p, mass_from(kept.floor));
      kept.floor = highest_reached(kept.floor, ~Entry{0}, share, Mass{0}, mass_from);
    }
    kept.total = fold_row<threads>(x, columns, Sum(), [=](Entry entry) { return kept.weight_of(entry); });
  }
  Output* y = arguments.y + row * problem.ldy;
  for (int column = threadIdx.x; column < columns; column += threads) {
    y[column] = kept.result_of(x[column], column);
  }
}
