#pragma once
#include "attention/attention_backward/passes.cuh"
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "cuda/row_reduce.cuh"
#include "cuda/shared_memory.cuh"
// What the passes need of each query, and the gradients of sinks.

constexpr int statistics_threads = 256;
constexpr int row_lanes = 8;  // that share a row

// δ of a row, Σ dO·O, by eight lanes.
__device__ __forceinline__ float delta_of(const Arguments& arguments, const Problem& problem, long long head,
                                          int place) {
  constexpr int vector = Problem::statistics_vector;
  const long long batch = head / problem.heads, of_batch = head % problem.heads;
  const Element* o =
      arguments.o + batch * problem.stride_o_b + place * problem.stride_o_s + of_batch * problem.stride_o_h;
  const Element* dout = arguments.dout + batch * problem.stride_dout_b + place * problem.stride_dout_s +
                        of_batch * problem.stride_dout_h;
  float delta = 0.0f;
#pragma unroll
  for (int i = 0; i < Problem::value_dim; i += row_lanes * vector) {
    const int column = i + threadIdx.x % row_lanes * vector;
    if (column >= Problem::value_dim) break;
    const auto a = load_global<vector, false>(o + column), b = load_global<vector, false>(dout + column);
#pragma unroll
    for (int j = 0; j < vector; ++j) delta = fmaf(to_float(a.elements[j]), to_float(b.elements[j]), delta);
  }
  return delta;
}

// Which query of a head a row of statistics belongs to; one behind the last if it belongs to none. All lanes
// of a warp ask together, for rows behind the same multiple of 8.
__device__ __forceinline__ int query_of(const Arguments& arguments, const Problem& problem, int row) {
#if segmented
  const int lane = threadIdx.x % 32;
  int begun = 0;  // sequences whose rows begin no later
#  pragma unroll 1
  for (int base = 0; base < problem.sequences; base += 32) {
    const int own = base + lane;
    const bool before = own < problem.sequences && padded_place(arguments.offsets[own], own) <= row / 8 * 8;
    const int found = __popc(__ballot_sync(0xffffffffu, before));
    begun += found;
    if (found < 32) break;
  }
  const int query_base = arguments.offsets[begun - 1];
  const int place = query_base + row - padded_place(query_base, begun - 1);
  return place < arguments.offsets[begun] ? place : problem.queries;
#else
  return row;
#endif
}

// Eight lanes have a row. A warp's rows are there together: their number is a multiple of 4.
__device__ __forceinline__ void attention_backward_statistics_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int padded = padded_rows(problem);
  const long long row = (static_cast<long long>(blockIdx.x) * statistics_threads + threadIdx.x) / row_lanes;
  const long long head = row / padded;
  const int of_head = row % padded;
  if (head >= problem.all_heads) return;
  const int query = query_of(arguments, problem, of_head);
  const bool there = query < problem.queries;
  const float delta =
      reduce_lanes<row_lanes>(there ? delta_of(arguments, problem, head, query) : 0.0f, Sum());
  if (threadIdx.x % row_lanes == 0) {
    Statistics found = Statistics::none();
    if (there) {
      const float lse = arguments.lse[head * problem.queries + query];
      found = {lse == -infinity() ? infinity() : lse * log2_e, delta};
    }
    arguments.shifts[row] = found.shift;
    arguments.deltas[row] = found.delta;
  }
}

#if sinks
// Rows of statistics among which those of a head's queries are.
__device__ __forceinline__ int statistics_end(const Problem& problem) {
#  if segmented
  return padded_rows(problem);
#  else
  return problem.queries;
#  endif
}

// A block has a head: the gradient of its sink is -Σ exp(sink - lse)·δ.
__device__ __forceinline__ void attention_backward_sinks_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const int padded = padded_rows(problem), batches = problem.all_heads / problem.heads, head = blockIdx.x;
  const float sink = arguments.sinks[head] * log2_e;
  float sum = 0.0f;
  for (int batch = 0; batch < batches; ++batch) {
    const long long first = (static_cast<long long>(batch) * problem.heads + head) * padded;
    for (int row = threadIdx.x; row < statistics_end(problem); row += statistics_threads) {
      const float shift = arguments.shifts[first + row];
      if (shift < infinity()) sum = fmaf(exp2f(sink - shift), -arguments.deltas[first + row], sum);
    }
  }
  sum = reduce_row<statistics_threads>(sum, Sum(), dynamic_shared<float>());
  if (threadIdx.x == 0) arguments.dsinks[head] = sum;
}
#endif
