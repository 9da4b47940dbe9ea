"""The kernel whose blocks share rows, as norms know it."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.norm.split.emit import emit
from autotune.codegen.rows.norm.split.schedule import NormSplitSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import missed
from autotune.search_spaces.rows.split import SplitSpace, pass_over_pieces, refused_invariance

from .workload import Costs


def _refused(problem: NormProblem) -> Iterator[str]:
    if problem.residual or problem.out_dtype:
        yield "rows with a residual, or quantised: expected neither where blocks share them"
    if not problem.columns:
        yield "columns=0: expected rows that blocks can share"
    yield from refused_invariance(problem.batch_invariant)


def _workload(problem: NormProblem, schedule: NormSplitSchedule, spec: DeviceSpec) -> tuple[Workload, Workload]:
    """The launch that reads x and sums pieces; that which reads x again, as far as L2 has let go of it, and writes."""
    costs, width = Costs.of(spec), schedule.vector_width
    x = problem.rows * problem.columns * problem.dtype.bytes
    factors = int(problem.weight) + int(problem.biased)
    centered = 2 * costs.in_pass + costs.merge / width if problem.centered else 0.0
    warp = costs.thread + costs.reduction
    summed = pass_over_pieces(
        problem,
        schedule,
        spec,
        memory_bytes=x,
        vector=width * (costs.in_pass + centered),
        warp=warp,
        access=costs.access,
    )
    written = pass_over_pieces(
        problem,
        schedule,
        spec,
        memory_bytes=problem.work.bytes - x + missed(x, spec) * x,
        vector=width * (costs.written + 2 * factors),
        warp=warp,
        access=costs.access,
        stored=True,
    )
    return summed, written


KERNEL = SplitSpace(NormSplitSchedule, _refused).kernel(emit, _workload)
