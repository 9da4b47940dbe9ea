"""What the launches of a softmax do whose blocks share rows, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.model.hardware import SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.split.schedule import SplitSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import lines_of_access, missed
from autotune.search_spaces.rows.softmax.workload import Costs


def workload(problem: SoftmaxProblem, schedule: SplitSchedule, spec: DeviceSpec) -> tuple[Workload, Workload]:
    """The launch that reads x and sums pieces; that which reads x again, as far as L2 has let go of it, and writes."""
    size = problem.dtype.bytes
    bytes_ = problem.rows * problem.columns * size
    scattered = 1 if problem.alike(schedule.vector_width) else schedule.vector_width
    exponentials = 1 + 1 / schedule.vector_width  # and that by which a sum is scaled
    summed = _launch(problem, schedule, spec, memory_bytes=bytes_, exponentials=exponentials, stores=0)
    again = missed(bytes_, spec) * bytes_
    written = _launch(problem, schedule, spec, memory_bytes=bytes_ + again, exponentials=1, stores=scattered)
    return summed, written


def _launch(
    problem: SoftmaxProblem,
    schedule: SplitSchedule,
    spec: DeviceSpec,
    *,
    memory_bytes: float,
    exponentials: float,
    stores: int,
) -> Workload:
    """A pass over all pieces, in which each vector takes so many accesses to store it."""
    costs, footprint = Costs.of(spec), schedule.footprint(problem)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds = schedule.rounds(problem)
    vectors, steps = warps * rounds, ceil_div(rounds, schedule.loads_in_flight)
    piece_bytes = problem.columns * size / schedule.blocks_per_row
    idle = max(1.0, costs.dependent * SCHEDULERS / (resident_blocks(footprint, spec) * warps))
    computing = vectors * (width * costs.element / 2 + stores * costs.access)
    computing += warps * (costs.thread + 2 * costs.reduction)
    return Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=memory_bytes,
        steps=steps,
        instructions=idle * computing / steps,
        load_instructions=vectors * costs.access / steps,
        unit_clocks=exponentials * vectors * width * WARP / spec.rate(Unit.SPECIAL) / steps,
        lines=(1 + stores) * vectors * lines_of_access(schedule.threads, width * size) / steps,
        bytes_loaded=piece_bytes / steps,
        bytes_stored=piece_bytes if stores else 0.0,
    )
