"""What the blocks of a norm_backward schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.rows.norm_backward.emit import SUM_BYTES, SUM_THREADS, sum_blocks
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.norm_backward.schedule import NormBackwardSchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import lines_of_access


@dataclass(frozen=True)
class Costs(Coefficients, section="norm_backward"):
    """What the instructions and the waits of a norm_backward take.

    Attributes:
        in_pass: instructions of an element in a pass.
        written: instructions of an element when it is written.
        access: instructions of an access with its address and bounds.
        copied: instructions of a vector that is copied to shared memory.
        reduction: instructions of a reduction over a warp, of each of its threads.
        row: instructions of a row's begin and end.
        dependent: clocks from an instruction of a warp to the next.
        turn: clocks of a row besides its instructions.
        barrier: clocks in which the warps of a row wait for each other's sums.
        merged: clocks of a sum that a row of threads adds to those of another.
        sums_in_flight: steps under way of the launch that adds up, as if it had few instructions only.
    """

    in_pass: float
    written: float
    access: float
    copied: float
    reduction: float
    row: float
    dependent: float
    turn: float
    barrier: float
    merged: float
    sums_in_flight: float


def workload(problem: NormBackwardProblem, schedule: NormBackwardSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A block computes its rows in turn; then a few blocks add up what all of them left."""
    costs = Costs.of(spec)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    vectors = warps * schedule.rounds_in(problem)  # vectors of a block's rows, counted for each warp
    passes = 1 + (problem.centered and not problem.saved)
    held = schedule.hold is not RowStorage.RELOAD
    reads = 1 if held else 1 + passes
    grid = schedule.blocks(problem)
    turns = max(1, ceil_div(problem.rows, max(1, grid * schedule.rows_per_block)))
    loads = 1 if held else reads * ceil_div(schedule.rounds_in(problem), schedule.loads_in_flight)
    row_bytes = schedule.rows_per_block * problem.columns * size
    sums = problem.summed * problem.columns * WORD_BYTES  # bytes of a block
    kept = 0.0 if held else 2.0 * sums  # that go to the workspace and back with each row
    element = (passes + 1) * costs.in_pass + costs.written + 2 * problem.summed
    accesses = vectors * (2 * reads + 1)
    lines = lines_of_access(schedule.threads_per_row, width * size)
    weights = problem.weight * (passes + 1) * row_bytes / size * problem.weight_dtype.bytes
    computing = vectors * width * element + warps * (costs.row + passes * costs.reduction)
    computing += 2 * vectors * costs.copied * (schedule.hold is RowStorage.SHARED)
    # What the blocks of an SM compute goes on beside what each of them waits for.
    footprint = schedule.footprint(problem)
    together = max(1, min(resident_blocks(footprint, spec), ceil_div(grid, spec.sm_count)))
    waiting = costs.turn + costs.dependent * computing / warps + costs.barrier * (schedule.threads_per_row > WARP)
    sums_of_thread = problem.summed * schedule.rounds_in(problem) * width * held
    merging = costs.merged * sums_of_thread * (schedule.rows_per_block - 1) / turns
    instructions = (computing**2.0 + (waiting * SCHEDULERS / together) ** 2.0) ** 0.5 + merging * SCHEDULERS / together
    rows = Workload(
        blocks=grid,
        footprint=footprint,
        memory_bytes=problem.work.bytes + grid * sums,
        steps=turns * loads,
        ahead=schedule.rows_ahead,
        in_flight=schedule.rows_ahead,
        instructions=instructions / loads,
        load_instructions=accesses * costs.access / loads,
        lines=(accesses * lines + 2 * kept / LINE_BYTES) / loads,
        bytes_loaded=(2 * reads * row_bytes + weights + kept) / loads,
        bytes_stored=turns * (row_bytes + kept) + sums,
    )
    if not problem.summed:
        return (rows,)
    strip = 32 * grid * WORD_BYTES  # bytes of a block that adds up
    added = Workload(
        blocks=sum_blocks(problem),
        footprint=Footprint(SUM_THREADS, SUM_BYTES),
        memory_bytes=grid * sums,
        steps=ceil_div(grid, 32),
        in_flight=costs.sums_in_flight,
        instructions=4.0 * SUM_THREADS / WARP * 4,
        load_instructions=4.0 * SUM_THREADS / WARP * costs.access,
        lines=32.0,
        bytes_loaded=strip / ceil_div(grid, 32),
        bytes_stored=32.0 * problem.weight_dtype.bytes,
    )
    return (rows, added)
