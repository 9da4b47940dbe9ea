"""The kernel whose blocks share rows, as cross_entropy knows it."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.split.emit import emit
from autotune.codegen.rows.cross_entropy.split.schedule import LossSplitSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import missed
from autotune.search_spaces.rows.split import SplitSpace, pass_over_pieces, refused_invariance

from .workload import Costs


def _refused(problem: LogitsProblem) -> Iterator[str]:
    if isinstance(problem, CrossEntropyProblem):
        yield from refused_invariance(problem.batch_invariant)


def _workload(problem: LogitsProblem, schedule: LossSplitSchedule, spec: DeviceSpec) -> tuple[Workload, Workload]:
    """The launch that sums pieces; that which reads x again for a gradient, or has a block for each row's loss."""
    costs, width = Costs.of(spec), schedule.vector_width
    x = problem.rows * problem.columns * problem.dtype.bytes
    warp, capped = costs.thread + costs.reduction, costs.capped * problem.capped
    special = width * WARP / spec.rate(Unit.SPECIAL)
    summed = pass_over_pieces(
        problem,
        schedule,
        spec,
        memory_bytes=x,
        vector=width * (costs.in_pass + capped + problem.smoothed),
        warp=warp,
        access=costs.access,
        special_clocks=(1 + 1 / width + 2 * problem.capped) * special,
    )
    if not problem.has_gradient:
        warps = schedule.threads // WARP
        return summed, Workload(problem.rows, schedule.footprint(problem), 0, instructions=warps * warp)
    written = pass_over_pieces(
        problem,
        schedule,
        spec,
        memory_bytes=x + missed(x, spec) * x,
        vector=width * (costs.written + capped),
        warp=warp,
        access=costs.access,
        special_clocks=(1 + 2 * problem.capped) * special,
        stored=True,
    )
    return summed, written


KERNEL = SplitSpace(LossSplitSchedule, _refused).kernel(emit, _workload)
