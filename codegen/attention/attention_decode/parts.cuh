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

// Stores the rows of `count` states in shared memory, or leaves their sum, and adds what all parts have left:
// the last block of the rows' to finish does, or blocks of a cluster, which finish together, each for some
// columns. `weights` are in shared memory, too.
__device__ __forceinline__ void finish_part(const Arguments& arguments, const Problem& problem,
                                            const BlockRows& rows, const Part& part, const States& states,
                                            int count, float factor, float* weights) {
#if cluster
  const States left = states;
#elif splits > 1 || grid_blocks
  const States partials = States(arguments.partials, all_states(problem)).from(part.first);
  const States left = partials.from(part.number);
#endif
#if splits > 1 || grid_blocks
  bool whole = part.count == 1;  // whether states are of all keys of the rows
#else
  constexpr bool whole = true;
#endif
  int rank = 0, sharing = 1;
  States added = states;
#pragma unroll 1
  while (true) {
    __syncthreads();
    add_states(
        [&](int i) {
#if cluster
          if (whole) return added.of_rank(i);
#endif
          return added.from(i);
        },
        count, rows.count, factor, weights,
        [&](int row, float largest, float sum) {
#if splits > 1 || grid_blocks
          if (!whole) {
            if (threadIdx.x % 32 == 0) left.tops[row] = make_float2(largest, sum);
            return 1.0f;
          }
#endif
          const int head = rows.head_of(problem, row);
          const RowEnd ended = end_of_row(arguments, largest, sum, factor, head);
#if lse
          const long long of_request = rows.request * static_cast<long long>(problem.heads);
          if (rank == 0 && threadIdx.x % 32 == 0)
            arguments.lse[(of_request + head) * problem.queries + rows.query_of(problem, row)] = ended.lse;
#endif
          return ended.factor;
        },
        [&](int row, int column, float4 values) {
#if splits > 1 || grid_blocks
          if (!whole) {
            *reinterpret_cast<float4*>(left.values + row * state_pitch + column) = values;
            return;
          }
#endif
          Problem::Element* o = arguments.o + rows.request * problem.stride_o_b +
                                rows.query_of(problem, row) * problem.stride_o_s +
                                rows.head_of(problem, row) * problem.stride_o_h + column;
          const float own[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
          for (int i = 0; i < 4; ++i)
            if (column + i < columns) o[i] = from_float<Problem::Element>(own[i]);
        },
        rank, sharing);
    if (whole) break;
#if splits > 1 || grid_blocks
#  if cluster
    cluster_barrier();
    rank = part.number, sharing = part.count;
#  else
    if (!is_last_block(static_cast<int*>(arguments.workspace) + part.rows, part.count)) return;
    added = partials;
#  endif
    count = part.count;
    whole = true;
#endif
  }
#if cluster
  cluster_barrier();  // all have read what this block has in shared memory
#endif
}
