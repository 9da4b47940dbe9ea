#pragma once
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
#include "selection/beam_step/continuations.cuh"
// A block for each request, in as many rounds as there are continuations: each finds the best one that comes
// behind the one before it.

struct Larger {
  __device__ __forceinline__ Entry operator()(Entry a, Entry b) const { return a > b ? a : b; }
};

template <int threads>
__device__ __forceinline__ void beam_step_naive(const Arguments& arguments) {
  const Problem problem(arguments);
  const long long request = blockIdx.x;
  Entry before = ~0ull;
  for (int place = 0; place < problem.k; ++place) {
    Entry best = 0;
    for (int beam = 0; beam < problem.beams; ++beam) {
      const long long row = request * problem.beams + beam;
      const float score = arguments.scores[row];
      const Element* x = arguments.x + row * problem.ldx;
      for (int token = threadIdx.x; token < problem.columns; token += threads) {
        const Entry entry = continuation(problem, score, x[token], beam, token);
        if (entry < before && entry > best) best = entry;
      }
    }
    before = reduce_row<threads>(best, Larger(), dynamic_shared<Entry>());
    __syncthreads();
    if (threadIdx.x == 0) store_continuation(arguments, problem, request, place, before);
  }
}
