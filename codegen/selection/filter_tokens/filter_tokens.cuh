#pragma once
#include "selection/filter_tokens/kept.cuh"
#include "selection/sampling/sampler.cuh"
// A block for each row: it finds what may be drawn as `sampling` does, and writes the row.

// The last of the first `count` entries in shared memory.
__device__ __forceinline__ Entry smallest_of(const Sampler& sampler, int count) {
  Entry own = ~Entry{0};
  for (int i = threadIdx.x; i < count; i += threads) own = Min()(own, sampler.memory.entries[i]);
  return sampler.over_block(own, Min());
}
#if result == shares

__device__ __forceinline__ Mass mass_of_choice(const Sampler& sampler, const Choice& choice) {
  const Weights& weights = sampler.weights;
  if (choice.mass > 0 && weights.least == 0) return choice.mass;
  Mass own = 0, total;
  for (int i = threadIdx.x; i < choice.kept; i += threads) own += weights.counted(sampler.memory.entries[i]);
  if (choice.kept == 0) {
    sampler.part.elements<threads>([&](Element element, int column) {
      if (choice.floor == 1 || entry_of(key_of(element), column) >= choice.floor) {
        own += weights.counted(to_float(element));
      }
    });
  }
  sampler.before(own, total);
  return total;
}
#endif

__device__ __forceinline__ void filter_tokens_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x;
  const Row row(arguments, problem, number);
  const RowPart part{row, 0, row.vectors()};
  const Parameters parameters(arguments, number, problem.columns);
  Sampler sampler(part, parameters, *dynamic_shared<SamplerMemory>());
  const Choice choice = sampler.choose(parameters);
  Kept kept{choice.floor, sampler.weights, 1};
  if (is_void(choice.first)) {
    kept.floor = ~Entry{0};
  } else if (parameters.greedy) {
    kept = only(choice.first);
  } else {
    if (choice.kept > 0) kept.floor = smallest_of(sampler, choice.kept);
#if result == shares
    kept.total = mass_of_choice(sampler, choice);
#endif
  }
  Output* y = arguments.y + number * problem.ldy;
  part.elements<threads>([&](Element element, int column) { y[column] = kept.result_of(element, column); });
}
