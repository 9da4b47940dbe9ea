"""What the blocks of a softmax_backward schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import SCHEDULERS, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import most_registers, resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import (
    cluster_clocks,
    lines_of_access,
    missed,
    rows_under_way,
    stores,
)

# Arrays, of each of which a row's first part is waited for before the loads behind it leave: with 8192×513 of bfloat16,
# vectors of 8 elements, 8 threads a row, took 26 % more time on an H200 than single elements, 64 threads a row.
_ARRAYS = 2


@dataclass(frozen=True)
class Costs(Coefficients, section="softmax_backward"):
    """What the instructions of a softmax_backward take.

    Attributes:
        summed: instructions of an element that is summed.
        written: instructions of an element when it is written.
        narrow: instructions of an element narrower than a word, besides.
        logarithm: instructions of an element whose exponential is taken.
        access: instructions of an access with its address and bounds.
        reduction: instructions of a reduction over a warp, of each of its threads.
        thread: instructions of a thread that begins and ends.
        part: instructions of each element of a vector that is partly there.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
        spilled: instructions of a register that is spilled.
    """

    summed: float
    written: float
    narrow: float
    logarithm: float
    access: float
    reduction: float
    thread: float
    part: float
    dependent: float
    spilled: float


def workload(problem: SoftmaxBackwardProblem, schedule: SoftmaxBackwardSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows of two arrays, all at once or in several steps and twice, and writes those of one."""
    costs = Costs.of(spec)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds, reads = schedule.rounds_in(problem), 1 if schedule.hold is RowStorage.REGISTERS else 2
    vectors = warps * rounds  # vectors of a block in one array, counted for each warp
    steps = 1 if schedule.hold is RowStorage.REGISTERS else reads * ceil_div(rounds, schedule.loads_in_flight)
    ends = 2.0 * min(schedule.rows_per_block, warps) / schedule.cluster if schedule.uneven(problem) else 0.0
    if ends and schedule.hold is RowStorage.REGISTERS:
        steps += _ARRAYS
    parts = 3 * min(ends, vectors) * width
    loads = 2 * reads * vectors
    stored = stores(problem, schedule, spec)
    exponentials = problem.log * vectors * width * WARP
    element = costs.summed + costs.written + costs.logarithm * problem.log + costs.narrow * (size < WORD_BYTES)
    footprint = schedule.footprint(problem)
    least, _ = schedule.register_range(problem)
    spilled = max(0, least - most_registers(spec, schedule.threads, schedule.min_blocks_per_sm))
    computing = vectors * width * element + parts * costs.part
    computing += (
        warps * (costs.thread + costs.reduction + costs.spilled * spilled) + vectors * stored.accesses * costs.access
    )
    resident = resident_blocks(footprint, spec)
    waits = SCHEDULERS * cluster_clocks(schedule.cluster, spec) / resident
    row_bytes = schedule.rows_per_block * problem.columns * size / schedule.cluster  # bytes of a block in one array
    lines = lines_of_access(schedule.threads_per_row, width * size)
    waiting = rows_under_way(problem.rows, schedule, resident, spec) * problem.columns * size
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=problem.work.bytes * (1 + 2 / 3 * (reads - 1) * missed(2 * waiting, spec)),
        steps=steps,
        instructions=(computing + waits) / steps,
        load_instructions=loads * costs.access / steps,
        dependent=costs.dependent,
        unit_clocks=exponentials / spec.rate(Unit.SPECIAL) / steps,
        lines=(loads * lines + vectors * stored.lines + parts) / steps,
        bytes_loaded=2 * reads * row_bytes / steps,
        bytes_stored=stored.times * row_bytes,
    )
    return (grid,)
