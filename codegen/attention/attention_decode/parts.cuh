#pragma once
#include "attention/attention_decode/block_parts.cuh"
#include "attention/attention_decode/states.cuh"
#include "cuda/numbers.cuh"
#include "cuda/tickets.cuh"
// How the parts of rows become their results: the last block to finish adds them, in their order.

#if head_scales
// From products of codes, of whose keys all have one scale.
__device__ __forceinline__ void scale_products(Scores& scores, float key_scale) {
#  if softcap
  scores.inner *= key_scale;
#  else
  scores.factor *= key_scale;
#  endif
}
#endif

// Adds states and stores the rows.
__device__ __forceinline__ void store_rows(const Arguments& arguments, const Problem& problem,
                                           const BlockRows& rows, const States& states, int count,
                                           float factor, float* weights) {
  add_states(
      states, count, rows.count, factor, weights,
      [&](int row, float largest, float sum) {
        const int head = rows.head_of(problem, row);
        const RowEnd ended = end_of_row(arguments, largest, sum, factor, head);
#if lse
        const long long of_request = rows.request * static_cast<long long>(problem.heads);
        if (threadIdx.x % 32 == 0)
          arguments.lse[(of_request + head) * problem.queries + rows.query_of(problem, row)] = ended.lse;
#endif
        return ended.factor;
      },
      [&](int row, int column, float4 values) {
        Problem::Element* o = arguments.o + rows.request * problem.stride_o_b +
                              rows.query_of(problem, row) * problem.stride_o_s +
                              rows.head_of(problem, row) * problem.stride_o_h + column;
        const float own[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (column + i < columns) o[i] = from_float<Problem::Element>(own[i]);
      });
}

// Stores the rows of `count` states in shared memory, or leaves their sum for the last block of the rows' to
// finish, which stores those of all parts. `weights` are in shared memory, too.
__device__ __forceinline__ void finish_part(const Arguments& arguments, const Problem& problem,
                                            const BlockRows& rows, const Part& part, const States& states,
                                            int count, float factor, float* weights) {
  __syncthreads();
#if splits > 1 || grid_blocks
  if (part.count > 1) {
    const States partials = States(arguments.partials, all_states(problem)).from(part.first);
    const States own = partials.from(part.number);
    add_states(
        states, count, rows.count, factor, weights,
        [&](int row, float largest, float sum) {
          if (threadIdx.x % 32 == 0) own.tops[row] = make_float2(largest, sum);
          return 1.0f;
        },
        [&](int row, int column, float4 values) {
          *reinterpret_cast<float4*>(own.values + row * state_pitch + column) = values;
        });
    if (!is_last_block(static_cast<int*>(arguments.workspace) + part.rows, part.count)) return;
    store_rows(arguments, problem, rows, partials, part.count, factor, weights);
    return;
  }
#endif
  store_rows(arguments, problem, rows, states, count, factor, weights);
}
