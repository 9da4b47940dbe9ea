"""norm_backward: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.norm_backward.presets import held, streamed
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.norm_backward.schedule import NormBackwardSchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.search_spaces.contract.space import Draw, Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm, most_registers
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.rows.row_schedules import row_violations

_BLOCKS_PER_SM = (1, 2, 3, 4, 6, 8, 16)
_ROUNDS = (2, 1, 4, 8)  # rounds of a row in registers, best guess first
_MOST_NARROW = 4
_STREAMED = ((256, 2), (1024, 8))  # threads and loads in flight of a row that is read again
_SPARE_REGISTERS = 8  # beyond the footprint, with which ptxas spills nothing
_AHEAD = {RowStorage.REGISTERS: (0, 1), RowStorage.SHARED: (1, 3), RowStorage.RELOAD: (0, 0)}  # fewest and most rows


def constraints(problem: NormBackwardProblem, schedule: NormBackwardSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from row_violations(schedule, problem.columns, problem.dtype.bytes)
    if schedule.vector_width > problem.width:
        yield f"vector_width {schedule.vector_width} over the {problem.width} elements that rows are aligned for"
    if schedule.hold is RowStorage.RELOAD and schedule.threads_per_row != schedule.threads:
        yield f"threads_per_row {schedule.threads_per_row}: expected all {schedule.threads} for rows read again"
    least, most = _AHEAD[schedule.hold]
    if not least <= schedule.rows_ahead <= most:
        expected = f"{least} to {most}" if least < most else f"{least}"
        yield f"rows_ahead {schedule.rows_ahead}: expected {expected} for hold={schedule.hold}"


def space(problem: NormBackwardProblem, spec: DeviceSpec) -> Space[NormBackwardSchedule]:
    """All fields are drawn. A row that a block cannot hold is read again, and blocks are as many as fit on an SM."""
    specs = field_specs(NormBackwardSchedule)
    vectors = [width for width in specs["vector_width"].values if width <= problem.width]
    grids = tuple(spec.sm_count * blocks for blocks in _BLOCKS_PER_SM)
    parameters = field_parameters(NormBackwardSchedule, vector_width=vectors)

    def build(draw: Draw) -> NormBackwardSchedule:
        drawn = NormBackwardSchedule.from_dict(draw)
        schedule = replace(drawn, threads_per_row=min(drawn.threads_per_row, drawn.threads), min_blocks_per_sm=1)
        least, most = _AHEAD[schedule.hold]
        ahead = max(least, min(drawn.rows_ahead, most))
        held = (  # fewer rows ahead, and then all threads of a block for a row, before it is read again
            replace(schedule, loads_in_flight=1, rows_ahead=rows, threads_per_row=of_row)
            for of_row in dict.fromkeys((schedule.threads_per_row, schedule.threads))
            for rows in range(ahead, least - 1, -1)
        )
        again = replace(schedule, hold=RowStorage.RELOAD, rows_ahead=0, threads_per_row=schedule.threads)
        fitting = (one for one in held if schedule.hold is not RowStorage.RELOAD and _legal(problem, one, spec))
        schedule = next(fitting, again)
        counts = specs["min_blocks_per_sm"].values
        resident = min(drawn.min_blocks_per_sm, _resident(problem, schedule, spec))
        return replace(schedule, min_blocks_per_sm=max(count for count in counts if count == 1 or count <= resident))

    return Space((*parameters, Parameter("grid_blocks", grids)), build)


def default(problem: NormBackwardProblem, spec: DeviceSpec) -> NormBackwardSchedule:
    """The first candidate; a row that fits nowhere is read again."""
    return next(candidates(problem, spec), replace(streamed(problem), grid_blocks=2 * spec.sm_count))


def candidates(problem: NormBackwardProblem, spec: DeviceSpec) -> Iterator[NormBackwardSchedule]:
    """Rows in a ring in shared memory, in vectors of half the width and of all, or in registers; read again last.

    Blocks for each SM are as many as fit. Of a known shape, one row is loaded ahead, too.
    """
    drawn = space(problem, spec)
    narrow = min(_MOST_NARROW, WIDEST_ACCESS // (problem.width * problem.dtype.bytes))  # vectors in place of one
    held_rows = [held(problem, rounds * narrow) for rounds in _ROUNDS]
    rings = [replace(schedule, hold=RowStorage.SHARED, rows_ahead=2) for schedule in held_rows]
    halves = [replace(schedule, vector_width=max(1, schedule.vector_width // 2)) for schedule in rings]
    shaped = [schedule.shape_specialized for schedule in halves]
    nearer = [replace(schedule, rows_ahead=1) for schedule in shaped]
    loaded = [replace(schedule, rows_ahead=1) for schedule in held_rows]
    again = [replace(streamed(problem), threads=n, threads_per_row=n, loads_in_flight=loads) for n, loads in _STREAMED]
    first = [one for like in zip(halves, shaped, nearer, rings, loaded, strict=True) for one in like]
    for schedule in dict.fromkeys(_filling(problem, one, spec) for one in (*first, *held_rows, *again)):
        fits = _needed(problem, schedule) <= most_registers(spec, schedule.threads, 1)
        if schedule in drawn and fits and _legal(problem, schedule, spec):
            yield schedule


def _needed(problem: NormBackwardProblem, schedule: NormBackwardSchedule) -> int:
    """Registers of a thread with which ptxas spills nothing."""
    return schedule.footprint(problem).registers + _SPARE_REGISTERS


def _filling(problem: NormBackwardProblem, schedule: NormBackwardSchedule, spec: DeviceSpec) -> NormBackwardSchedule:
    """The schedule with as many blocks on an SM as have the registers that they need, and a grid of so many."""
    needed = _needed(problem, schedule)
    counts = field_specs(NormBackwardSchedule)["min_blocks_per_sm"].values
    fitting = [n for n in counts if n == 1 or most_registers(spec, schedule.threads, n) >= needed]
    resident = max(n for n in fitting if n == 1 or n <= _resident(problem, schedule, spec))
    blocks = max(n for n in _BLOCKS_PER_SM if n <= resident)
    return replace(schedule, min_blocks_per_sm=resident, grid_blocks=blocks * spec.sm_count)


def _resident(problem: NormBackwardProblem, schedule: NormBackwardSchedule, spec: DeviceSpec) -> int:
    """Blocks that an SM holds at once."""
    footprint = schedule.footprint(problem)
    return blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)


def _legal(problem: NormBackwardProblem, schedule: NormBackwardSchedule, spec: DeviceSpec) -> bool:
    return not any(constraints(problem, schedule, spec)) and not any(
        footprint_violations(spec, schedule.footprint(problem))
    )


def checks(
    problem: NormBackwardProblem, schedule: NormBackwardSchedule
) -> list[tuple[NormBackwardProblem, NormBackwardSchedule]]:
    """Two blocks with several rows each, of whole rounds; and rows and a round that are partly there."""
    like = replace(schedule, grid_blocks=2)
    rounds, width = min(2, schedule.rounds_in(problem)), schedule.vector_width
    rows, columns = schedule.rows_per_block, rounds * schedule.row_step
    part = max(1, columns - schedule.row_step // 2 - 1)
    whole = replace(problem, rows=4 * rows, columns=columns, ldx=0, ldd=0)
    align = width * problem.dtype.bytes
    rows, leading = 3 * rows - rows // 2, round_up(part, width) + width
    ragged = replace(whole, rows=rows, columns=part, ldx=leading, align_x=align, ldd=leading, align_d=align)
    return [(whole, like), (ragged, like)]
