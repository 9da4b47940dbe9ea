#pragma once
#include "attention/attention_backward/wgmma/stages.cuh"
// The thread that has tensor copies fill shared memory.

// The two matrices of the block's own rows, and those of the others.
struct Matrices {
  const TensorMap& own_first;
  const TensorMap& own_second;
  const TensorMap& first;
  const TensorMap& second;
};

// Has the block's own rows copied, and then the others that they meet.
template <bool of_keys>
__device__ __forceinline__ void produce(const Arguments& arguments, const Problem& problem,
                                        const OwnRows& own, const Matrices& matrices,
                                        Stages<of_keys>& stages) {
  using Sizes = Tiles<of_keys>;
  const Sequence sequence = sequence_of(arguments, problem, own);
  const MappedRows queries = mapped_rows(own.batch, sequence.query_base, sequence.queries, problem.queries);
  const MappedRows keys = mapped_rows(own.batch, sequence.key_base, sequence.keys, problem.keys);
  const MappedRows& own_rows = of_keys ? keys : queries;
  const MappedRows& others = of_keys ? queries : keys;
  stages.own_full.arrive_and_expect(Sizes::own_bytes);
  copy_boxes<head_boxes, Sizes::own_box_bytes>(stages.own_first(), matrices.own_first, own_rows, own.row,
                                               own.head, stages.own_full);
  copy_boxes<value_boxes, Sizes::own_box_bytes>(stages.own_second(), matrices.own_second, own_rows, own.row,
                                                own.head, stages.own_full);
  Turn<Sizes::stages> turn;
#pragma unroll 1
  for (int met = 0; met < Pass<of_keys>::heads_met(problem); ++met) {
    const int head = of_keys ? own.head * problem.group + met : own.head / problem.group;
    const long long statistics = statistics_of(problem, own, head);
#pragma unroll 1
    for (int other = own.begin; other < own.end; other += Sizes::others) {
#if masked
      if (!chance_of<of_keys>(arguments, problem, own, met, own.row, Sizes::own, other, Sizes::others).holds)
        continue;
#endif
      const int stage = turn.stage();
      Barrier &first_full = stages.first_full[stage], &second_full = stages.second_full[stage];
      stages.first_empty[stage].wait(turn.parity() ^ 1);
      first_full.arrive_and_expect(Sizes::first_bytes + 2 * Sizes::statistics_bytes);
      copy_boxes<head_boxes, Sizes::box_bytes>(stages.first(stage), matrices.first, others, other, head,
                                               first_full);
      if constexpr (of_keys) {
        bulk_copy(stages.shifts(stage), arguments.shifts + statistics + other, Sizes::statistics_bytes,
                  first_full);
        bulk_copy(stages.shifts(stage) + Sizes::others, arguments.deltas + statistics + other,
                  Sizes::statistics_bytes, first_full);
      }
      stages.second_empty[stage].wait(turn.parity() ^ 1);
      second_full.arrive_and_expect(Sizes::second_bytes);
      copy_boxes<value_boxes, Sizes::box_bytes>(stages.second(stage), matrices.second, others, other, head,
                                                second_full);
      turn.advance();
    }
  }
}
