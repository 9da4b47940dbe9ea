#pragma once
#include "selection/filter_tokens/kept.cuh"
#include "selection/sampling/blocks.cuh"
// A block for each row: it finds the last entry that is kept by a read for each of some digits, and writes
// the row.

__device__ __forceinline__ void filter_tokens_block(const Arguments& arguments) {
  const Problem problem(arguments);
  Entry* entries = dynamic_shared<Entry>();
  Mass* of_warps = entries + candidates;
  int* counts = reinterpret_cast<int*>(of_warps + threads / 32);
  const Selection selection{entries, counts, counts + threads / 32 * 2};
  const long long number = blockIdx.x;
  const Row row(arguments, problem, number);
  const RowPart part{row, 0, row.vectors()};
  const Parameters parameters(arguments, number, problem.columns);
  Sampler sampler{selection, part, {parameters.scale, 0.0f, parameters.least}, of_warps};
  const Entry first = sampler.largest(0);
  Kept kept{first, sampler.weights, 1};
  if (is_void(first)) {
    kept.floor = ~Entry{0};
  } else if (parameters.greedy) {
    kept.weights = {1.0f, value_of(key_of_entry(first)), 0};
    kept.total = kept.weights.of(first);
  } else {
    kept.floor = 1;
    kept.weights.top = __fmul_rn(value_of(key_of_entry(first)), parameters.scale);
#if min_p && source == probs
    kept.weights.least = least_weight(parameters.share, kept.weights.of(first));
#endif
#if top_k
    if (parameters.k > 0) {
      kept.floor = selection.floor_by_digits(
          part, static_cast<unsigned>(parameters.k), [](Entry) { return 1u; },
          [](unsigned wanted, unsigned counted, Entry, int) { return wanted == counted; });
    }
#endif
    Mass own = 0;
#if top_p
    if (parameters.p < 1.0f) {
      const Kept ahead = kept;
      const auto weigh = [=](Entry entry) { return entry < ahead.floor ? 0 : ahead.weights.of(entry); };
      Mass total;
      part.for_each(1, [&](Entry entry, int) { own += weigh(entry); });
      sampler.before(own, total);
      const Entry floor = selection.floor_by_digits(part, share_of(parameters.p, total), weigh,
                                                    [=](Mass, Mass sum, Entry floor, int shift) {
                                                      return shift < 32 && sum == ahead.weights.of(floor);
                                                    });
      if (floor > kept.floor) kept.floor = floor;
      own = 0;
    }
#endif
#if result == shares
    part.for_each(1, [&](Entry entry, int) { own += kept.weight_of(entry); });
    sampler.before(own, kept.total);
#endif
  }
  Output* y = arguments.y + number * problem.ldy;
  part.elements<threads>([&](Element element, int column) { y[column] = kept.result_of(element, column); });
}
