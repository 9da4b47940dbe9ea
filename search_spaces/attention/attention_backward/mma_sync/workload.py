"""What the blocks of a schedule by mma.sync do, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.attention.attention_backward.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.search_spaces.attention.attention_backward.pass_costs import around, pass_workload
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


def workload(problem: AttentionBackwardProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Two passes, or three; warps read all rows of a stage from shared memory, for as few rows as they have."""
    head, value = problem.head_dim, problem.value_elements

    def of_rows(of_keys: bool, columns: int) -> Workload:
        others = schedule.tile_queries if of_keys else schedule.tile_keys
        footprint = schedule.footprint(problem) if of_keys else schedule.query_footprint(problem)
        tile, ahead = (schedule.block_rows, others), schedule.stages - 1
        return pass_workload(
            problem,
            spec,
            footprint,
            tile,
            2 * columns,
            of_keys=of_keys,
            heads_together=schedule.heads_together,
            in_flight=ahead,
        )

    queries = of_rows(False, 2 * head + value)
    if schedule.together:
        return around(problem, of_rows(True, 2 * head + 2 * value), queries)
    return around(problem, of_rows(True, 2 * head + value), of_rows(True, head + 2 * value), queries)
