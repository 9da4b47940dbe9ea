"""softmax: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ....codegen.fields import field_specs
from ....codegen.integers import ceil_div, round_up
from ....codegen.matrices import WIDEST_ACCESS
from ....codegen.rows.schedule import Hold
from ....codegen.rows.softmax.presets import held, streamed
from ....codegen.rows.softmax.problem import SoftmaxProblem
from ....codegen.rows.softmax.schedule import Passes, SoftmaxSchedule
from ...device_spec import DeviceSpec
from ...occupancy import most_registers
from ...resources import footprint_violations
from ...space import Space
from ..row_schedules import row_space, row_violations

# Vectors of 16 bytes that a thread has of a row, best guess first; of narrower ones up to four times as many.
_ROUNDS = (4, 8, 2, 16, 1, 32)
_CLUSTERS = (1, 2, 4, 8, 16)
_LONG_ROW = 2**16  # bytes, from which on larger clusters than a row needs are worth a trial
_SPARE_REGISTERS = 16  # beyond the footprint, with which ptxas spills nothing
_MOST_RESIDENT = 1024  # threads of an SM, by which loads of 64 bytes each suffice


def constraints(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    return row_violations(schedule, problem.rows, problem.columns, problem.widths)


def space(problem: SoftmaxProblem, spec: DeviceSpec) -> Space[SoftmaxSchedule]:
    """All fields."""
    return row_space(SoftmaxSchedule, problem.columns, problem.dtype.bytes, problem.widths, spec)


def default(problem: SoftmaxProblem, spec: DeviceSpec) -> SoftmaxSchedule:
    """The first legal candidate; a row that fits nowhere is read twice."""
    return next(_legal_candidates(problem, spec), streamed(problem))


def candidates(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """Rows in registers, in one and in two passes; in shared memory; read again."""
    found = list(_legal_candidates(problem, spec))
    first = found[:4]
    yield from first
    yield from (replace(schedule, passes=Passes.ONLINE) for schedule in first[:2])
    for schedule in first[:1]:
        yield replace(schedule, streaming=False)
        yield replace(schedule, min_blocks_per_sm=1)
    if problem.columns * problem.dtype.bytes >= _LONG_ROW:
        yield from (schedule for schedule in found if schedule.cluster > found[0].cluster and _deep(problem, schedule))
    drawn = space(problem, spec)
    wide = replace(streamed(problem), threads=512, threads_per_row=512, streaming=True, loads_in_flight=4)
    others = [replace(wide, cluster=cluster, hold=Hold.SHARED) for cluster in _CLUSTERS]
    shared = next((schedule for schedule in others if _legal(problem, schedule, spec)), wide)
    for schedule in (shared, wide, replace(wide, threads=1024, threads_per_row=1024, loads_in_flight=2)):
        if schedule in drawn:
            yield schedule


def _legal_candidates(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """Rows in registers: of a segment of a warp, of a block, or of a cluster, as their length asks for."""
    drawn, seen = space(problem, spec), set()
    narrower = min(4, WIDEST_ACCESS // (min(problem.widths) * problem.dtype.bytes))
    for cluster, rounds in product(_CLUSTERS, (min(32, narrower * rounds) for rounds in _ROUNDS)):
        schedule = replace(held(problem, rounds * cluster), cluster=cluster, streaming=True)
        schedule = _filling(problem, schedule, spec)
        if schedule.rounds(problem.columns) > rounds or schedule in seen or schedule not in drawn:
            continue
        seen.add(schedule)
        if _legal(problem, schedule, spec):
            yield schedule


def _deep(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> bool:
    """Whether a thread has 5 to 16 vectors of a row, so that blocks are small and still have many loads in flight."""
    return 4 < schedule.rounds(problem.columns) <= 16


def _filling(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> SoftmaxSchedule:
    """The schedule with as many blocks on an SM as have the registers that they need.

    Without a bound, ptxas takes up to three times as many, to work on several vectors at once.
    """
    needed = schedule.footprint(problem).registers + _SPARE_REGISTERS
    counts = field_specs(SoftmaxSchedule)["min_blocks_per_sm"].values
    fitting = [n for n in counts if n == 1 or most_registers(spec, schedule.threads, n) >= needed]
    return replace(schedule, min_blocks_per_sm=max(n for n in fitting if n * schedule.threads <= _MOST_RESIDENT))


def _legal(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> bool:
    return not any(constraints(problem, schedule, spec)) and not any(
        footprint_violations(spec, schedule.footprint(problem))
    )


def checks(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> list[tuple[SoftmaxProblem, SoftmaxSchedule]]:
    """Whole rounds, aligned as the problem's; and a row and a round that are partly there, just aligned enough."""
    rounds = min(2, schedule.rounds(problem.columns))
    rows, columns = schedule.rows_per_block, rounds * schedule.row_step
    part = max(1, columns - schedule.row_step // 2 - 1)
    leading = round_up(part, schedule.vector_width) + schedule.vector_width
    align = schedule.vector_width * problem.dtype.bytes
    alike = replace(problem, rows=2 * rows, columns=columns, ldx=0, ldy=0)
    ragged = replace(
        alike,
        rows=rows + ceil_div(rows, 2),
        columns=part,
        ldx=leading,
        ldy=leading,
        align_x=align,
        align_y=align,
    )
    return [(alike, schedule), (ragged, schedule)]
