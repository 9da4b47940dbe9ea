"""scan: which schedules are legal, and which to draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import Algorithm, ScanSchedule
from autotune.search_spaces.contract.space import Draw, Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import BULK_COPIES_SINCE, grid_violations

_VECTOR_WIDTHS = (1, 2, 4, 8)
ROUNDS = field_specs(ScanSchedule)["rounds"].values
_BLOCKS_PER_SM = (1, 2, 3, 4)  # blocks of an SM, in a grid of blocks that stay
_LEAST_STAGES = 2  # stages of a block that stays, which sums a tile before it stores the one before
_MOST_STAYING_THREADS = 512  # that scan, beside which there are warps with other tasks
_MOST_REGISTERS, _REGISTERS = 112, 65536  # registers of a thread, and of a block
_MOST_TILES = 512  # that the threads of a row scan in turn, beyond which look-back is all there is to draw


def constraints(problem: ScanProblem, schedule: ScanSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    threads, per_row = schedule.threads, schedule.threads_per_row
    if per_row > threads:
        return [f"threads_per_row {per_row} over the {threads} threads of a block"]
    found = []
    widest = problem.widest_skewed if schedule.algorithm is Algorithm.ROWS else problem.widest
    if schedule.vector_width > widest:
        found.append(f"vector_width {schedule.vector_width} over the {widest} elements of aligned accesses")
    if schedule.vector_width > _VECTOR_WIDTHS[-1]:
        found.append(f"vector_width {schedule.vector_width} over {_VECTOR_WIDTHS[-1]}")
    shares_rows = schedule.algorithm is not Algorithm.ROWS
    if (shares_rows or problem.segmented) and per_row < threads:
        why = str(schedule.algorithm) if shares_rows else "segments"
        found.append(f"{why} needs threads_per_row {threads}, all of a block, not {per_row}")
    if schedule.algorithm is Algorithm.ROWS and schedule.delay:
        found.append(f"delay {schedule.delay} where no block waits: expected 0")
    found += _staying_violations(problem, schedule, spec)
    found += grid_violations(schedule.blocks(problem))
    return found


def _staying_violations(problem: ScanProblem, schedule: ScanSchedule, spec: DeviceSpec) -> Iterator[str]:
    if not schedule.stays:
        for name, usual in (("stages", 1), ("grid_blocks", 0)):
            if (value := getattr(schedule, name)) != usual:
                yield f"{name} {value} where blocks do not stay: expected {usual}"
        return
    algorithm = schedule.algorithm
    if spec.compute_capability < BULK_COPIES_SINCE:
        yield f"{algorithm} needs the bulk copies of sm_90 or newer, not {spec.arch}"
    if algorithm is Algorithm.PIPELINED and not _in_order(problem):
        yield "pipelined takes neither segments nor reverse scans"
    for operand in _copied_in_bulk(problem, algorithm):
        if not _in_bulk(problem, operand):
            where = f"multiples of {WIDEST_ACCESS} bytes, where these do not begin"
            yield f"{algorithm} copies rows of {operand} that begin at {where}"
    if algorithm is Algorithm.BULK and schedule.streaming:
        yield "streaming 1 where bulk copies load and store: expected 0"
    if schedule.stages < _LEAST_STAGES:
        yield f"{algorithm} needs {_LEAST_STAGES} stages or more, not {schedule.stages}"
    if not schedule.grid_blocks:
        yield f"{algorithm} needs grid_blocks 1 or more, not 0"
    if problem.rows * schedule.tiles(problem) > INT_MAX:
        yield f"{problem.rows * schedule.tiles(problem)} tiles over {INT_MAX}"


def _in_order(problem: ScanProblem) -> bool:
    """Whether all elements of a row are scanned together, from the first to the last."""
    return not problem.segmented and not problem.reverse


def _copied_in_bulk(problem: ScanProblem, algorithm: Algorithm) -> tuple[str, ...]:
    """The operands that bulk copies load or store."""
    return ("x",) if algorithm is Algorithm.PIPELINED else ("x", "y", *(["flags"] if problem.flags else []))


def _in_bulk(problem: ScanProblem, operand: str) -> bool:
    """Whether rows of an operand begin where bulk copies can."""
    if operand == "flags":
        return problem.align_flags == WIDEST_ACCESS
    return problem.vector_width(operand) * problem.element_bytes_of(operand) == WIDEST_ACCESS


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[ScanSchedule]:
    """What a schedule has no use for is lowered to what it has, so that most draws are legal."""
    widths = tuple(width for width in _VECTOR_WIDTHS if width <= problem.widest_skewed)
    kinds = algorithms(problem, spec)
    fields = field_parameters(ScanSchedule, algorithm=kinds, vector_width=widths)
    resident = _BLOCKS_PER_SM if {Algorithm.PIPELINED, Algorithm.BULK} & {*kinds} else _BLOCKS_PER_SM[:1]

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
        if spec.compute_capability >= BULK_COPIES_SINCE:
            if _in_order(problem) and _in_bulk(problem, "x"):
                found.append(Algorithm.PIPELINED)
            if all(_in_bulk(problem, operand) for operand in _copied_in_bulk(problem, Algorithm.BULK)):
                found.append(Algorithm.BULK)
    if problem.columns <= _MOST_TILES * most:
        found.append(Algorithm.ROWS)
    return tuple(found)


def fitted(problem: ScanProblem, schedule: ScanSchedule) -> ScanSchedule:
    """The schedule with all threads on a row where that must be, with no more than it needs, and few registers."""
    if schedule.algorithm is not Algorithm.ROWS:
        schedule = replace(schedule, vector_width=min(schedule.vector_width, problem.widest))
    if schedule.stays:
        schedule = replace(schedule, threads=min(schedule.threads, _MOST_STAYING_THREADS))
    odd = schedule.algorithm is Algorithm.BULK  # which puts vectors of neighbouring threads in different banks
    fewer = [replace(schedule, rounds=rounds) for rounds in ROUNDS if rounds <= schedule.rounds and rounds % 2 >= odd]
    most = min(_MOST_REGISTERS, _REGISTERS // schedule.threads)
    schedule = next((one for one in reversed(fewer) if one.footprint(problem).registers <= most), fewer[0])
    if schedule.stays:
        streaming = schedule.streaming and schedule.algorithm is not Algorithm.BULK
        stages = max(_LEAST_STAGES, schedule.stages)
        schedule = replace(schedule, threads_per_row=schedule.threads, stages=stages, min_blocks_per_sm=1)
        return replace(schedule, streaming=streaming)
    schedule = replace(schedule, stages=1, grid_blocks=0)
    if schedule.algorithm is Algorithm.LOOK_BACK:
        return replace(schedule, threads_per_row=schedule.threads)
    schedule = replace(schedule, delay=0)
    if problem.segmented:
        return replace(schedule, threads_per_row=schedule.threads)
    return replace(schedule, threads_per_row=min(schedule.threads_per_row, schedule.threads))
