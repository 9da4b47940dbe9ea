#pragma once
#include "selection/sampling/sampler.cuh"
// A block for each row. Where few tokens may be drawn, or are most of the mass, it draws from these in shared
// memory; otherwise it reads the row once more.

__device__ __forceinline__ void sampling_blocks(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long number = blockIdx.x;
  const Row row(arguments, problem, number);
  const RowPart part{row, 0, row.vectors()};
  const Parameters parameters(arguments, number, problem.columns);
  Sampler sampler(part, parameters, *dynamic_shared<SamplerMemory>());
  const Choice choice = sampler.choose(parameters);
  int chosen = column_of(choice.first);
  if (is_void(choice.first)) {
    chosen = -1;
  } else if (!parameters.greedy) {
    const Mass random = random_bits(arguments, number);
    const auto share = [=](Mass mass) { return __umul64hi(random, mass); };
    chosen =
        choice.kept > 0 ? sampler.draw_kept(choice.kept, random) : sampler.draw_from(choice.floor, share);
  }
  if (threadIdx.x == 0) arguments.tokens[number] = chosen;
}
