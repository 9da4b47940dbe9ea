"""What the blocks of a warps schedule do, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.selection.topk.costs import Costs


def workload(problem: TopkProblem, schedule: WarpsSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A warp loads its row, and then computes only; rows of few results are bounded by one key of each lane."""
    costs, warps = Costs.of(spec), schedule.threads // WARP
    rounds = 1 if problem.k <= WARP else costs.floor_rounds
    bounded = costs.floor_rounds * costs.compared if problem.k <= WARP else 0
    ordered = ceil_div(schedule.slots, WARP) * schedule.slots / 2 * costs.compared
    of_keys = schedule.items * (costs.element + costs.key * rounds)
    read = problem.columns * problem.dtype.bytes
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        instructions=warps * (costs.row + of_keys + bounded + ordered),
        load_instructions=warps * schedule.vectors * costs.access,
        lines=warps * read / LINE_BYTES,
        bytes_loaded=warps * read,
        bytes_stored=warps * problem.k * (problem.dtype.bytes + problem.index_dtype.bytes),
    )
    return (grid,)
