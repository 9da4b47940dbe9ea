"""scan: which schedules are legal, and which to draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....codegen.fields import field_specs
from ....codegen.matrices import WIDEST_ACCESS
from ....codegen.scan.scan.problem import ScanProblem
from ....codegen.scan.scan.schedule import Algorithm, ScanSchedule
from ...device_spec import DeviceSpec
from ...resources import BULK_COPIES_SINCE
from ...space import Draw, Parameter, Space, field_parameters

_GRID_BLOCKS = 2**31 - 1
_VECTOR_WIDTHS = (1, 2, 4, 8)
_ROUNDS = field_specs(ScanSchedule)["rounds"].values
_BLOCKS_PER_SM = (1, 2, 3, 4)  # of a pipelined grid
_LEAST_STAGES = 2  # of a pipelined block, which sums a tile before it stores the one before
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
    shares_rows = schedule.algorithm is not Algorithm.ROWS
    if (shares_rows or problem.segmented) and per_row < threads:
        why = str(schedule.algorithm) if shares_rows else "segments"
        found.append(f"{why} needs threads_per_row {threads}, all of a block, not {per_row}")
    if schedule.algorithm is Algorithm.ROWS and schedule.delay:
        found.append(f"delay {schedule.delay} where no block waits: expected 0")
    found += _pipeline_violations(problem, schedule, spec)
    if schedule.blocks(problem) > _GRID_BLOCKS:
        found.append(f"{schedule.blocks(problem)} blocks over the {_GRID_BLOCKS} of a grid")
    return found


def _pipeline_violations(problem: ScanProblem, schedule: ScanSchedule, spec: DeviceSpec) -> Iterator[str]:
    if not schedule.pipelined:
        for name, usual in (("stages", 1), ("grid_blocks", 0)):
            if (value := getattr(schedule, name)) != usual:
                yield f"{name} {value} where nothing is pipelined: expected {usual}"
        return
    if spec.compute_capability < BULK_COPIES_SINCE:
        yield f"pipelined needs the bulk copies of sm_90 or newer, not {spec.arch}"
    if problem.segmented or problem.reverse:
        yield "pipelined takes neither segments nor reverse scans"
    if not _in_bulk(problem):
        yield f"pipelined copies rows of x from multiples of {WIDEST_ACCESS} bytes, where these do not begin"
    if schedule.stages < _LEAST_STAGES:
        yield f"pipelined needs {_LEAST_STAGES} stages or more, not {schedule.stages}"
    if not schedule.grid_blocks:
        yield "pipelined needs grid_blocks 1 or more, not 0"
    if problem.rows * schedule.tiles(problem) > _GRID_BLOCKS:
        yield f"{problem.rows * schedule.tiles(problem)} tiles over {_GRID_BLOCKS}"


def _in_bulk(problem: ScanProblem) -> bool:
    """Whether bulk copies can load rows of x."""
    return problem.vector_width("x") * problem.dtype.bytes == WIDEST_ACCESS


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[ScanSchedule]:
    """What a schedule has no use for is lowered to what it has, so that most draws are legal."""
    widths = tuple(width for width in _VECTOR_WIDTHS if width <= problem.widest)
    kinds = algorithms(problem, spec)
    fields = field_parameters(ScanSchedule, algorithm=kinds, vector_width=widths)
    resident = _BLOCKS_PER_SM if Algorithm.PIPELINED in kinds else _BLOCKS_PER_SM[:1]

    def build(draw: Draw) -> ScanSchedule:
        chosen = {name: value for name, value in draw.items() if name in field_specs(ScanSchedule)}
        chosen["grid_blocks"] = draw["blocks_per_sm"] * spec.sm_count
        return fitted(problem, ScanSchedule.from_dict(chosen))

    return Space((*fields, Parameter("blocks_per_sm", resident)), build)


def algorithms(problem: ScanProblem, spec: DeviceSpec) -> tuple[Algorithm, ...]:
    """Look-back where a row may be several tiles; rows where their threads need not go through too many."""
    least, most = 64 * problem.widest, 1024 * problem.widest * 8
    found = []
    if problem.columns > least:
        found.append(Algorithm.LOOK_BACK)
        plain = not problem.segmented and not problem.reverse
        if plain and _in_bulk(problem) and spec.compute_capability >= BULK_COPIES_SINCE:
            found.append(Algorithm.PIPELINED)
    if problem.columns <= _MOST_TILES * most:
        found.append(Algorithm.ROWS)
    return tuple(found)


def fitted(problem: ScanProblem, schedule: ScanSchedule) -> ScanSchedule:
    """The schedule with all threads on a row where that must be, with no more than it needs, and few registers."""
    fewer = [replace(schedule, rounds=rounds) for rounds in _ROUNDS if rounds <= schedule.rounds]
    most = min(_MOST_REGISTERS, _REGISTERS // schedule.threads)
    schedule = next((one for one in reversed(fewer) if one.footprint(problem).registers <= most), fewer[0])
    if schedule.pipelined:
        stages = max(_LEAST_STAGES, schedule.stages)
        return replace(schedule, threads_per_row=schedule.threads, stages=stages, min_blocks_per_sm=1)
    schedule = replace(schedule, stages=1, grid_blocks=0)
    if schedule.algorithm is Algorithm.LOOK_BACK:
        return replace(schedule, threads_per_row=schedule.threads)
    schedule = replace(schedule, delay=0)
    if problem.segmented:
        return replace(schedule, threads_per_row=schedule.threads)
    return replace(schedule, threads_per_row=min(schedule.threads_per_row, schedule.threads))
