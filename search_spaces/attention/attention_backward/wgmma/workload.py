"""What the blocks of a schedule by wgmma do, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.attention_backward.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARPGROUP, WORD_BYTES
from autotune.search_spaces.attention.attention_backward.pass_costs import around, pass_workload, row_workload
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


def workload(problem: AttentionBackwardProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A single pass adds to sums of FP32, which another launch rounds."""
    head, value = problem.head_dim, problem.value_elements

    def of_keys(columns: int, summed: int = 0) -> Workload:
        tile, ahead = (schedule.block_keys, schedule.tile_queries), schedule.stages - 1
        footprint = schedule.footprint(problem)
        return pass_workload(
            problem,
            spec,
            footprint,
            tile,
            columns,
            of_keys=True,
            heads_together=schedule.heads_together,
            in_flight=ahead,
            summed=summed,
        )

    if schedule.single_pass:
        footprint, queries = Footprint(WARPGROUP * schedule.consumers), schedule.tile_queries
        summed = schedule.sum_columns(problem) * schedule.block_keys // queries  # of dq, with those that are padded
        bytes_of_row = summed * 2 * WORD_BYTES + head * problem.dtype.bytes
        sums = row_workload(problem.rows, bytes_of_row, queries, footprint)
        return around(problem, of_keys(2 * head + 2 * value + summed, head), sums)
    tile = schedule.block_queries, schedule.tile_keys
    footprint = schedule.query_pass(problem).footprint
    ahead = schedule.query_stages - 1
    of_queries = pass_workload(
        problem,
        spec,
        footprint,
        tile,
        2 * head + value,
        of_keys=False,
        heads_together=schedule.heads_together,
        in_flight=ahead,
    )
    if schedule.together:
        return around(problem, of_keys(2 * head + 2 * value), of_queries)
    return around(problem, of_keys(2 * head + value), of_keys(head + 2 * value), of_queries)
