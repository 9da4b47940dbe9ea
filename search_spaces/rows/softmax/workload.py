"""What the blocks of a softmax schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import Passes, SoftmaxSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm, resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import (
    cluster_clocks,
    lines_of_access,
    missed,
    rows_under_way,
    stores,
)

_SKEWED_WAITS = 2  # loads that a row waits for in turn, where its ends go to shared memory by way of registers


@dataclass(frozen=True)
class Costs(Coefficients, section="softmax"):
    """What the instructions and the waits of a softmax take.

    Attributes:
        element: instructions of an element, which is read, reduced and written.
        narrow: instructions of an element narrower than a word, besides.
        again: instructions for an element whose exponential is computed again to be written.
        access: instructions of an access with its address and bounds.
        reduction: instructions of a reduction over a warp, of each of its threads.
        thread: instructions of a thread that begins and ends.
        check: instructions to find out whether a vector is partly there.
        part: instructions of each element of a vector that is.
        part_lines: cache lines of each.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
        held_byte: clocks of an SM in which all blocks wait for each byte of a row that is held; several blocks hide
            each other's waits.
        streaming_registers: more time of device memory for streaming hints, of rows in registers.
        streaming_shared: the same, of rows in shared memory.
    """

    element: float
    narrow: float
    again: float
    access: float
    reduction: float
    thread: float
    check: float
    part: float
    part_lines: float
    dependent: float
    held_byte: float
    streaming_registers: float
    streaming_shared: float


def workload(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows, all at once or in several steps, as often as `hold` and `passes` say, and stores them."""
    costs = Costs.of(spec)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds = schedule.rounds_in(problem)
    passes = 1 if schedule.passes is Passes.ONLINE else 2
    again_masked = problem.has_mask and schedule.hold is RowStorage.RELOAD  # rows wait in y, and are read from there
    reads = 1 + passes + again_masked if schedule.hold is RowStorage.RELOAD else 1
    steps = _steps(problem, schedule, reads)
    vectors = warps * rounds  # vectors of a block, counted for each warp
    row_bytes = problem.columns * size
    block_bytes = schedule.rows_per_block * row_bytes / schedule.cluster
    stored = stores(problem, schedule, spec)
    ends = _ends(problem, schedule)
    parts = width * min(ends * min(schedule.rows_per_block, warps) / schedule.cluster, vectors)
    mask_bytes = problem.has_mask * block_bytes / size * problem.mask_dtype.bytes
    loads = reads * (vectors * costs.access + parts * costs.part) + problem.has_mask * vectors * costs.access
    computed = (
        problem.counted / max(1, problem.rows * problem.columns) if schedule.skip else 1.0
    )  # share of the vectors that are computed
    kept = schedule.passes is Passes.KEPT
    exponentials = computed * (1 if kept else 2 if passes == 2 else 2 + 1 / width) * vectors * width * WARP
    element = costs.element - costs.again if kept else costs.element + (costs.narrow if size < WORD_BYTES else 0)
    of_vector = width * element + stored.accesses * costs.access + (costs.check if ends else 0)
    computing = computed * vectors * of_vector + parts * costs.part + warps * (costs.thread + 2 * costs.reduction)
    shared_accesses = vectors * (1 + passes + 1) if schedule.hold is RowStorage.SHARED else 0
    again = (reads - 1) * _missed(problem, schedule, spec)
    footprint = schedule.footprint(problem)
    resident = resident_blocks(footprint, spec)
    lines = lines_of_access(schedule.threads_per_row, width * size)
    hinted = {RowStorage.REGISTERS: costs.streaming_registers, RowStorage.SHARED: costs.streaming_shared}.get(
        schedule.hold, 0.0
    )
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=(1 + hinted * schedule.streaming) * problem.work.bytes
        + again * problem.rows * row_bytes
        + _masks_again(problem, schedule, spec),
        steps=steps,
        instructions=(computing + SCHEDULERS * _waits(schedule, block_bytes, spec) / resident) / steps,
        load_instructions=loads / steps,
        in_turn=True,
        dependent=costs.dependent,
        unit_clocks=exponentials / spec.rate(Unit.SPECIAL) / steps,
        shared_clocks=shared_accesses * max(1.0, WARP * width * size / LINE_BYTES) / steps,
        lines=((reads * lines + stored.lines) * vectors + parts * costs.part_lines) / steps,
        bytes_loaded=(reads * block_bytes + mask_bytes) / steps,
        bytes_stored=(stored.times + again_masked) * block_bytes,
    )
    return (grid,)


def _steps(problem: SoftmaxProblem, schedule: SoftmaxSchedule, reads: int) -> int:
    """Loads that a thread waits for, one after the other."""
    if schedule.hold is RowStorage.RELOAD:
        return reads * ceil_div(schedule.rounds_in(problem), schedule.loads_in_flight)
    return 1 + (_SKEWED_WAITS if schedule.hold is RowStorage.SHARED and _skewed(problem, schedule) else 0)


def _skewed(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> bool:
    """Whether rows may begin within a vector."""
    return schedule.vector_width > problem.vector_width("x")


def _ends(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> int:
    """Vectors of a row that are partly there."""
    if _skewed(problem, schedule):
        return 2
    return int(schedule.vector_width > 1 and (problem.masked or problem.columns % schedule.vector_width != 0))


def _waits(schedule: SoftmaxSchedule, block_bytes: float, spec: DeviceSpec) -> float:
    """Clocks that a block waits for its rows and for the blocks that share them."""
    held = 0.0 if schedule.hold is RowStorage.RELOAD else Costs.of(spec).held_byte * block_bytes
    return held + cluster_clocks(schedule.cluster, spec)


def _masks_again(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> float:
    """Bytes of masks that L2 has let go of when another matrix asks for them."""
    if not problem.has_mask or schedule.heads_first:
        return 0.0
    matrix = problem.queries * problem.columns * problem.mask_dtype.bytes
    between = matrix + 2 * problem.queries * problem.columns * problem.dtype.bytes
    asked_for = problem.rows * problem.columns - prod(problem.stored["m"])
    return missed(between, spec) * max(0, asked_for) * problem.mask_dtype.bytes


def _missed(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> float:
    """The share of the rows that L2 has let go of when they are read again."""
    footprint = schedule.footprint(problem)
    resident = max(1, blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes))
    rows = rows_under_way(problem.rows, schedule, resident, spec)
    return missed(rows * problem.columns * problem.dtype.bytes, spec)
