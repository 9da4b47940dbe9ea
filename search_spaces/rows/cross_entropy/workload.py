"""What the blocks of a cross-entropy schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule, CrossEntropySchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax.schedule import Passes
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import (
    cluster_clocks,
    lines_of_access,
    missed,
    rows_under_way,
    stores,
)


@dataclass(frozen=True)
class Costs(Coefficients, section="cross_entropy"):
    """What the instructions of a loss take.

    Attributes:
        in_pass: instructions of an element in a pass.
        written: instructions of an element when it is written.
        capped: instructions for a logit that is capped, each time.
        access: instructions of an access with its address and bounds.
        reduction: instructions of a reduction over a warp, of each of its threads.
        thread: instructions of a thread that begins and ends.
        part: instructions of each element of a vector that is partly there.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    in_pass: float
    written: float
    capped: float
    access: float
    reduction: float
    thread: float
    part: float
    dependent: float


def workload(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows, all at once or in several steps, as often as `hold` and `passes` say."""
    costs = Costs.of(spec)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    passes, written = _passes(schedule), int(problem.has_gradient)
    rounds, reads = schedule.rounds_in(problem), passes + written if schedule.hold is RowStorage.RELOAD else 1
    vectors = warps * rounds  # vectors of a block, counted for each warp
    steps = reads * ceil_div(rounds, schedule.loads_in_flight) if schedule.hold is RowStorage.RELOAD else 1
    stored = stores(problem, schedule, spec)
    loads = (
        0 if isinstance(schedule, CrossEntropySchedule) and schedule.bulk else vectors * reads
    )  # loads of all threads
    accesses = loads + vectors * written * stored.accesses
    element = passes * costs.in_pass + written * costs.written
    element += (passes + written) * costs.capped * problem.capped + problem.smoothed
    ends = min(2.0 * schedule.rows_per_block, 2.0 * warps) / schedule.cluster if schedule.uneven(problem) else 0.0
    parts = min(ends, vectors) * width
    computing = vectors * width * element + parts * costs.part * (reads + written)
    computing += warps * (costs.thread + passes * costs.reduction) + accesses * costs.access
    exponentials = _exponentials(problem, schedule) * vectors * width * WARP
    footprint = schedule.footprint(problem)
    resident = resident_blocks(footprint, spec)
    waits = SCHEDULERS * cluster_clocks(schedule.cluster, spec) / resident if passes else 0.0
    row_bytes = schedule.rows_per_block * problem.columns * size / schedule.cluster
    lines = lines_of_access(schedule.threads_per_row, width * size)
    again = missed(rows_under_way(problem.rows, schedule, resident, spec) * problem.columns * size, spec)
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=problem.work.bytes + (reads - 1) * again * problem.rows * problem.columns * size,
        steps=steps,
        instructions=(computing + waits) / steps,
        load_instructions=loads * costs.access / steps,
        in_turn=passes > 0,
        dependent=costs.dependent,
        unit_clocks=exponentials / spec.rate(Unit.SPECIAL) / steps,
        shared_clocks=vectors * (1 + passes + written) * max(1.0, WARP * width * size / LINE_BYTES) / steps
        if schedule.hold is RowStorage.SHARED
        else 0.0,
        lines=(loads * lines + vectors * written * stored.lines + parts) / steps,
        bytes_loaded=reads * row_bytes / steps,
        bytes_stored=written * stored.times * row_bytes,
    )
    return (grid,)


def _passes(schedule: CrossEntropyBackwardSchedule) -> int:
    """Passes over a row until its loss is known."""
    if not isinstance(schedule, CrossEntropySchedule):
        return 0
    return 1 if schedule.passes is Passes.ONLINE else 2


def _exponentials(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule) -> float:
    """Special functions of an element."""
    passes, written = _passes(schedule), problem.has_gradient
    of_sum = 1 + (1 / schedule.vector_width if passes == 1 else 0.0) if passes else 0.0
    return of_sum + written + 2 * problem.capped * (passes + written)
