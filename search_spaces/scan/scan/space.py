"""scan: which schedules are legal, and which to draw from."""

from __future__ import annotations

from dataclasses import replace

from ....codegen.fields import field_specs
from ....codegen.scan.scan.problem import ScanProblem
from ....codegen.scan.scan.schedule import Algorithm, ScanSchedule
from ...device_spec import DeviceSpec
from ...space import Draw, Space, field_parameters

_GRID_BLOCKS = 2**31 - 1
_VECTOR_WIDTHS = (1, 2, 4, 8)
_ROUNDS = field_specs(ScanSchedule)["rounds"].values
_MOST_REGISTERS, _REGISTERS = 112, 65536  # of a thread, and of a block
_MOST_TILES = 512  # that the threads of a row scan in turn, beyond which look-back is all there is to draw


def constraints(problem: ScanProblem, schedule: ScanSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    threads, per_row = schedule.threads, schedule.threads_per_row
    if per_row > threads:
        return [f"threads_per_row {per_row} over the {threads} threads of a block"]
    found = []
    if schedule.vector_width > problem.widest:
        found.append(f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned accesses")
    if schedule.vector_width > _VECTOR_WIDTHS[-1]:
        found.append(f"vector_width {schedule.vector_width} over {_VECTOR_WIDTHS[-1]}")
    whole_block = schedule.algorithm is Algorithm.LOOK_BACK or problem.segmented
    if whole_block and per_row < threads:
        why = "look_back" if schedule.algorithm is Algorithm.LOOK_BACK else "segments"
        found.append(f"{why} needs threads_per_row {threads}, all of a block, not {per_row}")
    if schedule.algorithm is Algorithm.ROWS and schedule.delay:
        found.append(f"delay {schedule.delay} where no block waits: expected 0")
    if schedule.blocks(problem) > _GRID_BLOCKS:
        found.append(f"{schedule.blocks(problem)} blocks over the {_GRID_BLOCKS} of a grid")
    return found


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[ScanSchedule]:
    """What a schedule has no use for is lowered to what it has, so that most draws are legal."""
    widths = tuple(width for width in _VECTOR_WIDTHS if width <= problem.widest)
    parameters = field_parameters(ScanSchedule, algorithm=algorithms(problem), vector_width=widths)

    def build(draw: Draw) -> ScanSchedule:
        fields = {name: value for name, value in draw.items() if name in field_specs(ScanSchedule)}
        return fitted(problem, ScanSchedule.from_dict(fields))

    return Space(parameters, build)


def algorithms(problem: ScanProblem) -> tuple[Algorithm, ...]:
    """Look-back where a row may be several tiles; rows where their threads need not go through too many."""
    least, most = 64 * problem.widest, 1024 * problem.widest * 8
    found = []
    if problem.columns > least:
        found.append(Algorithm.LOOK_BACK)
    if problem.columns <= _MOST_TILES * most:
        found.append(Algorithm.ROWS)
    return tuple(found)


def fitted(problem: ScanProblem, schedule: ScanSchedule) -> ScanSchedule:
    """The schedule with all threads on a row where that must be, with no more than it needs, and few registers."""
    fewer = [replace(schedule, rounds=rounds) for rounds in _ROUNDS if rounds <= schedule.rounds]
    most = min(_MOST_REGISTERS, _REGISTERS // schedule.threads)
    schedule = next((one for one in reversed(fewer) if one.footprint(problem).registers <= most), fewer[0])
    if schedule.algorithm is Algorithm.LOOK_BACK:
        return replace(schedule, threads_per_row=schedule.threads)
    schedule = replace(schedule, delay=0)
    if problem.segmented:
        return replace(schedule, threads_per_row=schedule.threads)
    return replace(schedule, threads_per_row=min(schedule.threads_per_row, schedule.threads))
