"""What the launches of a softmax do whose blocks share rows, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.model.hardware import SCHEDULERS, WARP
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.split.schedule import SplitSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import missed
from autotune.search_spaces.rows.softmax.workload import Costs
from autotune.search_spaces.rows.split import pass_over_pieces


def workload(problem: SoftmaxProblem, schedule: SplitSchedule, spec: DeviceSpec) -> tuple[Workload, Workload]:
    """The launch that reads x and sums pieces; that which reads x again, as far as L2 has let go of it, and writes."""
    size = problem.dtype.bytes
    bytes_ = problem.rows * problem.columns * size
    exponentials = 1 + 1 / schedule.vector_width  # and that by which a sum is scaled
    summed = _launch(problem, schedule, spec, memory_bytes=bytes_, exponentials=exponentials, stored=False)
    again = missed(bytes_, spec) * bytes_
    written = _launch(problem, schedule, spec, memory_bytes=bytes_ + again, exponentials=1, stored=True)
    return summed, written


def _launch(
    problem: SoftmaxProblem,
    schedule: SplitSchedule,
    spec: DeviceSpec,
    *,
    memory_bytes: float,
    exponentials: float,
    stored: bool,
) -> Workload:
    """A pass over all pieces, in which each vector may be stored."""
    costs, width = Costs.of(spec), schedule.vector_width
    warps = schedule.threads // WARP
    idle = max(1.0, costs.dependent * SCHEDULERS / (resident_blocks(schedule.footprint(problem), spec) * warps))
    return pass_over_pieces(
        problem,
        schedule,
        spec,
        memory_bytes=memory_bytes,
        vector=idle * width * costs.element / 2,
        warp=idle * (costs.thread + 2 * costs.reduction),
        access=costs.access,
        special_clocks=exponentials * width * WARP / spec.rate(Unit.SPECIAL),
        stored=stored,
    )
