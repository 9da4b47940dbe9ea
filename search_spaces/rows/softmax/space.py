"""softmax: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from ...occupancy import blocks_per_sm, most_registers
from ...resources import footprint_violations
from ...space import Space
from ..row_schedules import row_space, row_violations

_ROUNDS = (8, 4, 2, 16, 1, 32)  # vectors of 16 bytes that a thread has of a row, best guess first
_CLUSTERS = (1, 2, 4, 8, 16)
_NARROW_ELEMENTS = (32, 4)  # of a row, that a thread has in narrow vectors
_LEAST_COPIED, _LONG_ROW = 2**14, 60_000  # bytes of a row that shared memory may hold, and holds best
_RESIDENT = 4  # blocks of an SM that hide each other's waits
_SPARE_REGISTERS = 16  # beyond the footprint, with which ptxas spills nothing
# Threads of an SM: by so many, loads of 64 bytes each suffice; copies to shared memory leave room for all.
_MOST_RESIDENT = {Hold.REGISTERS: 1024, Hold.SHARED: 2048}


def constraints(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    return row_violations(schedule, problem.rows, schedule.reach_in(problem), problem.dtype.bytes)


def space(problem: SoftmaxProblem, spec: DeviceSpec) -> Space[SoftmaxSchedule]:
    """All fields."""
    return row_space(SoftmaxSchedule, problem.columns, problem.vector_width("x"), problem.dtype.bytes, spec)


def default(problem: SoftmaxProblem, spec: DeviceSpec) -> SoftmaxSchedule:
    """The first candidate; a row that fits nowhere is read twice."""
    return next(candidates(problem, spec), streamed(problem))


def candidates(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """Long rows in shared memory first, others in registers first, in two passes and in one; read again last."""
    copied, loaded = list(_in_shared_memory(problem, spec)), list(_in_registers(problem, spec))[:4]
    if problem.columns * problem.dtype.bytes >= _LONG_ROW:
        yield from (*copied, *loaded[:2])
    else:
        for passes in Passes:
            yield from (replace(schedule, passes=passes) for schedule in (*loaded[:2], *copied[:2]))
        yield from loaded[2:]
        for schedule in loaded[:1]:
            yield replace(schedule, streaming=True)
            yield replace(schedule, min_blocks_per_sm=1)
    drawn = space(problem, spec)
    again = replace(streamed(problem), threads=512, threads_per_row=512, loads_in_flight=4)
    for schedule in (again, *_narrow(problem, loaded, spec)):
        if schedule in drawn:
            yield schedule


def _in_shared_memory(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """First the smallest cluster of blocks of 256 threads, of which four fit on an SM; last a larger one."""
    drawn, row_bytes = space(problem, spec), problem.columns * problem.dtype.bytes
    if row_bytes < _LEAST_COPIED:
        return
    online = replace(streamed(problem), hold=Hold.SHARED, loads_in_flight=1)
    fitting = (cluster for cluster in _CLUSTERS if row_bytes / cluster <= spec.shared_per_sm / _RESIDENT)
    usual = next(fitting, _CLUSTERS[-1])
    near = ((256, usual), (512, usual), (256, 2 * usual), (512, usual // 2), (512, 4 * usual))
    for threads, cluster in near:
        schedule = replace(online, threads=threads, threads_per_row=threads, cluster=cluster)
        if cluster in _CLUSTERS and schedule in drawn and _legal(problem, schedule, spec):
            yield _filling(problem, schedule, spec)


def _narrow(problem: SoftmaxProblem, wide: Sequence[SoftmaxSchedule], spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """For rows that begin between vectors: vectors as wide as all of them are aligned for, for more threads, too."""
    width = min(problem.widths)
    for schedule in wide[:2]:
        if width < schedule.vector_width:
            yield replace(schedule, vector_width=width)
    if width * problem.dtype.bytes < WIDEST_ACCESS:
        for elements in _NARROW_ELEMENTS:
            yield _filling(problem, held(problem, ceil_div(elements, width), width), spec)


def _in_registers(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """Rows in registers: of a segment of a warp, of a block, or of a cluster, as their length asks for."""
    drawn, seen = space(problem, spec), set()
    for cluster, rounds in product(_CLUSTERS, _ROUNDS):
        schedule = replace(held(problem, rounds * cluster), cluster=cluster)
        schedule = _filling(problem, schedule, spec)
        if schedule.rounds(problem.columns) > rounds or schedule in seen or schedule not in drawn:
            continue
        seen.add(schedule)
        if _legal(problem, schedule, spec):
            yield schedule


def _filling(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> SoftmaxSchedule:
    """The schedule with as many blocks on an SM as have the registers that they need.

    Without a bound, ptxas takes up to three times as many, to work on several vectors at once.
    """
    needed = schedule.footprint(problem).registers + (_SPARE_REGISTERS if schedule.hold is Hold.REGISTERS else 4)
    counts = field_specs(SoftmaxSchedule)["min_blocks_per_sm"].values
    fitting = [n for n in counts if n == 1 or most_registers(spec, schedule.threads, n) >= needed]
    footprint, most = schedule.footprint(problem), _MOST_RESIDENT[schedule.hold] // schedule.threads
    most = min(most, blocks_per_sm(spec, schedule.threads, needed, footprint.shared_bytes))
    return replace(schedule, min_blocks_per_sm=max(n for n in fitting if n <= max(1, most)))


def _legal(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> bool:
    return not any(constraints(problem, schedule, spec)) and not any(
        footprint_violations(spec, schedule.footprint(problem))
    )


def checks(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> list[tuple[SoftmaxProblem, SoftmaxSchedule]]:
    """Whole rounds; and a row and a round that are partly there, no better aligned than needed, or than the problem."""
    rounds, width = min(2, schedule.rounds_in(problem)), schedule.vector_width
    rows, columns = schedule.rows_per_block, rounds * schedule.row_step
    part = max(1, columns - schedule.row_step // 2 - 1)
    leading = round_up(part, width) + width
    align = width * problem.dtype.bytes
    alike = replace(problem, rows=2 * rows, columns=columns, ldx=0, ldy=0)
    ragged = replace(
        alike,
        rows=rows + ceil_div(rows, 2),
        columns=part,
        ldx=leading + problem.ldx % width,
        ldy=leading + problem.ldy % width,
        align_x=min(align, problem.align_x),
        align_y=min(align, problem.align_y),
    )
    return [(alike, schedule), (ragged, schedule)]
