#pragma once
#include "cuda/shared_memory.cuh"
#include "cuda/tickets.cuh"
#include "selection/beam_step/continuations.cuh"
#include "selection/select.cuh"
#include "cuda/sort_entries.cuh"
// `splits` blocks for each beam. Each leaves the first k continuations of its part, and the last one of a
// request selects from what all of them left.

// The continuations of a beam's part, as what is selected from (entries.cuh).
struct Continuations {
  const Problem& problem;
  const RowPart& part;
  float score;
  int beam;

  __device__ __forceinline__ int count() const { return part.count(); }

  template <class Take>
  __device__ __forceinline__ void for_each(Entry floor, Take take) const {
    const int begin = part.begin_column();
    const float bound = value_of(key_of_entry(floor));
    part.elements<threads>([&](Element logarithm, int token) {
      if (passes(score + logarithm, bound)) {
        const Entry entry = continuation(problem, score, logarithm, beam, token);
        if (entry >= floor) take(entry, token - begin);
      }
    });
  }

#if samples > 0
  __device__ __forceinline__ void sample(Entry (&entries)[sampled]) const {
    part.sample(entries);
#  pragma unroll
    for (int i = 0; i < sampled; ++i) {
      const Entry own = entries[i];
      if (own) entries[i] = continuation(problem, score, value_of(key_of_entry(own)), beam, column_of(own));
    }
  }
#endif
};

__device__ __forceinline__ void beam_step_block(const Arguments& arguments) {
  const Problem problem(arguments);
  Entry* entries = dynamic_shared<Entry>();
  int* counts = reinterpret_cast<int*>(entries + candidates);
  const Selection selection{entries, counts, counts + threads / 32 * 2};
  const long long number = blockIdx.x / Schedule::splits, request = number / problem.beams;
  const int split = blockIdx.x % Schedule::splits, beam = static_cast<int>(number % problem.beams);
  const Row row(arguments, problem, number);
  const RowPart part = part_of<Schedule::splits>(row, split);
  const int own = problem.k < part.count() ? problem.k : part.count();
  selection.select(Continuations{problem, part, arguments.scores[number], beam}, own);
  Entry* all = static_cast<Entry*>(arguments.workspace);
  const int blocks = problem.beams * Schedule::splits;  // of a request
  Entry* of_request = all + request * blocks * problem.k;
  for (int i = threadIdx.x; i < problem.k; i += threads) {
    of_request[static_cast<long long>(beam * Schedule::splits + split) * problem.k + i] =
        i < own ? entries[i] : 0;
  }
  int* counters = reinterpret_cast<int*>(all + static_cast<long long>(gridDim.x) * problem.k);
  if (!is_last_block(counters + request, blocks)) return;
  selection.select(PartialResults{of_request, blocks * problem.k}, problem.k);
  int padded = 64;
  while (padded < problem.k) padded *= 2;
  for (int i = problem.k + threadIdx.x; i < padded; i += threads) entries[i] = 0;
  __syncthreads();
  sort_entries(entries, padded);
  for (int i = threadIdx.x; i < problem.k; i += threads) {
    store_continuation(arguments, problem, request, i, entries[i]);
  }
}
