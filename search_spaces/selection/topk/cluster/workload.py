"""What the blocks of a cluster schedule do, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.selection.topk.cluster.schedule import ClusterSchedule
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.selection.topk.costs import Costs

_BARRIERS = 8  # of a block, those of its cluster counted twice


def workload(problem: TopkProblem, schedule: ClusterSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its part of a row, counts it by a digit and leaves what is among the first results.

    Barriers count as steps that load nothing.
    """
    costs, warps = Costs.of(spec), schedule.threads // WARP
    elements = ceil_div(problem.columns, schedule.cluster)
    steps = 1 + _BARRIERS * costs.barrier_steps
    read_bytes = elements * problem.dtype.bytes
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=steps,
        instructions=warps * schedule.items * (costs.element + costs.compared) / steps,
        load_instructions=warps * schedule.vectors * costs.access / steps,
        lines=read_bytes / LINE_BYTES / steps,
        bytes_loaded=read_bytes / steps,
        bytes_stored=problem.k * (problem.dtype.bytes + problem.index_dtype.bytes) / schedule.cluster,
    )
    return (grid,)
