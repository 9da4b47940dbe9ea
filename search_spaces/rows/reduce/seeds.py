"""reduce: which schedules to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .space import can_fold, fitted, split_values, widest_vectors

# Threads of a block, loads in flight of each, and blocks for each SM where a reduction is split: with vectors of 16
# bytes, 64 KiB and more on their way to an SM.
_SHAPES = ((256, 4, 8), (512, 4, 4), (1024, 4, 2), (256, 8, 4), (512, 8, 2), (256, 8, 8), (256, 2, 8), (128, 8, 8))
# The same for so few strips of columns that their blocks leave many partial results to the last one.
_FEW_STRIPS, _FEWEST_PARTIALS = 8, (512, 8, 1)
# The same for vectors narrower than 16 bytes, and for those that columns are a multiple of.
_NARROW_SHAPES = ((1024, 16, 1), (512, 16, 1), (512, 16, 2))
# Threads of a block and of a row that begins between vectors: 131072×513 floats took 65 µs on an H200 with vectors of 8
# bytes, and 95 with those of 16.
_SKEWED_SHAPES = ((512, 32), (128, 8))
_SKEWED_LOADS = 16
_SHORT_BYTES = 8192  # bytes of a segment, on average
_MOST_LOADS = 8  # with more, fewer blocks fit on an SM: slower where it was measured
_LEAST_LANES = 8  # threads on a row of a few columns


def default(problem: ReduceProblem, spec: DeviceSpec) -> ReduceSchedule:
    """The widest loads, four of them in flight, and four blocks for each SM."""
    return _schedule(problem, spec, 256, 4, 4)


def candidates(problem: ReduceProblem, spec: DeviceSpec) -> list[ReduceSchedule]:
    """Variants of the default: more and fewer threads and loads in flight, on more and fewer neighbouring columns.

    Short segments are staged first.
    """
    found = [*_staged(problem), *_folded(problem, spec)]
    for number, (threads, loads, blocks_per_sm) in enumerate(_SHAPES):
        schedule = _schedule(problem, spec, threads, loads, blocks_per_sm)
        found.append(schedule)
        if number < 2:
            found += [replace(schedule, streaming=True), replace(schedule, specialize=Specialize.SHAPE)]
        if problem.axis is not Axis.ALL and number < 4:
            found += [_schedule(problem, spec, threads, loads, blocks_per_sm, shift) for shift in (1, -1)]
    if problem.axis is Axis.FIRST:
        fewest = (_schedule(problem, spec, *_FEWEST_PARTIALS, shift) for shift in (0, -1))
        found += [schedule for schedule in fewest if schedule.groups(problem) <= _FEW_STRIPS]
    width = problem.vector_width("x")
    if problem.axis is Axis.LAST and problem.ldx % width:
        found += [ReduceSchedule(*shape, width // 2, _SKEWED_LOADS) for shape in _SKEWED_SHAPES]
    whole = widest_divisor(width, problem.columns) if problem.axis is Axis.FIRST else width
    if whole * problem.dtype.bytes < WIDEST_ACCESS:
        found += [_schedule(problem, spec, *shape, width=whole) for shape in _NARROW_SHAPES]
    return found


def _staged(problem: ReduceProblem) -> Iterator[ReduceSchedule]:
    """Threads for the segments of a block, and loads for half as many elements again as they have on average."""
    short = problem.reduced * problem.dtype.bytes <= _SHORT_BYTES
    if not problem.in_segments or problem.op.arrays > 1 or not short:
        return
    width = problem.vector_width("x")
    for threads, elements in ((128, 16), (128, 32), (128, 64), (256, 16), (256, 32)):
        lanes = min(max(_LEAST_LANES, 1 << (ceil_div(problem.reduced, elements) - 1).bit_length()), threads)
        wanted = threads // lanes * problem.reduced * 3 // 2
        loads = 1 << max(0, (ceil_div(wanted, threads * width) - 1).bit_length())
        schedule = ReduceSchedule(threads, lanes, width, min(loads, _MOST_LOADS), staged=True)
        yield from (schedule, schedule.shape_specialized)


def _folded(problem: ReduceProblem, spec: DeviceSpec) -> Iterator[ReduceSchedule]:
    """Rows that begin between vectors, several as one. Few blocks share a strip, of which the last one adds up all."""
    if not can_fold(problem):
        return
    width, split_counts = widest_vectors(problem, True), split_values(problem, spec)
    for threads, lanes, loads, blocks_per_sm in (
        (256, 32, 8, 4),
        (256, 64, 4, 3),
        (256, 64, 8, 2),
        (256, 32, 4, 6),
        (128, 32, 8, 8),
    ):
        schedule = ReduceSchedule(threads, lanes, width, loads, folded=True)
        splits = max(2, ceil_div(blocks_per_sm * spec.sm_count, schedule.groups(problem)))
        schedule = fitted(problem, replace(schedule, splits=splits), split_counts)
        if schedule.splits > 1:
            yield from (schedule, schedule.shape_specialized)


def _schedule(
    problem: ReduceProblem,
    spec: DeviceSpec,
    threads: int,
    loads: int,
    blocks_per_sm: int,
    shift: int = 0,
    width: int | None = None,
) -> ReduceSchedule:
    """The schedule of so many threads and loads, split into as many blocks as an SM shall have.

    Threads of a row are as many as its vectors need, times 2 to the `shift`. Vectors are the widest unless told.
    """
    width = width or problem.vector_width("x")
    vectors = ceil_div(problem.columns if problem.axis is Axis.FIRST else problem.reduced, width)
    lanes = min(WARP, vectors) if problem.axis is Axis.FIRST else min(threads, ceil_div(vectors, loads))
    exponent = (max(1, lanes) - 1).bit_length() + shift
    lanes = min(max(_LEAST_LANES, 1 << max(0, exponent)), threads)
    schedule = ReduceSchedule(threads, lanes, width, loads)
    # A row that a part of a block reduces is too short to be split.
    splittable = problem.axis in (Axis.ALL, Axis.FIRST) or schedule.rows_per_block == 1
    wanted = ceil_div(blocks_per_sm * spec.sm_count, max(1, schedule.groups(problem))) if splittable else 1
    return fitted(problem, replace(schedule, splits=wanted), split_values(problem, spec))
