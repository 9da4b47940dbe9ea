"""reduce: which schedules are legal, and which to draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LEAST_COPY
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.search_spaces.contract.space import Draw, Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_VECTOR_WIDTHS = (1, 2, 4, 8)
_OF_A_ROW = (8, 16, 32, 64, 128, 256, 512, 1024)
_THREADS_PER_ROW = {Axis.LAST: _OF_A_ROW, Axis.SEGMENTS: _OF_A_ROW, Axis.FIRST: (8, 16, 32, 64, 128)}
_BLOCKS_PER_SM = 32  # blocks of an SM, beyond which a reduction is not split further
_STRIP = 256  # columns of an ordinary strip


def constraints(problem: ReduceProblem, schedule: ReduceSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    threads, per_row, splits = schedule.threads, schedule.threads_per_row, schedule.splits
    if per_row > threads:
        return [f"threads_per_row {per_row} over the {threads} threads of a block"]
    found = []
    vector, widest = schedule.vector_width, widest_vectors(problem, schedule.folded)
    if vector > widest:
        found.append(f"vector_width {vector} over the {widest} elements that X is aligned for")
    if splits > schedule.tiles(problem):
        tiles, tile = schedule.tiles(problem), schedule.tile(problem)
        found.append(f"splits {splits} over the {tiles} tiles of {tile} elements that make a result")
    if splits > 1 and problem.axis is not Axis.FIRST and per_row < threads:
        found.append(f"splits {splits} of a row need threads_per_row {threads}, all of a block, not {per_row}")
    if schedule.folded:
        found += _folded_violations(problem, schedule)
    if schedule.staged:
        found += _staged_violations(problem, schedule)
    return found


def widest_vectors(problem: ReduceProblem, folded: bool) -> int:
    """Elements of the widest vectors that X is aligned for; rows that are folded need not be."""
    return max(1, problem.align_x // problem.dtype.bytes) if folded else problem.vector_width("x")


def can_fold(problem: ReduceProblem) -> bool:
    """Whether rows without gaps begin between vectors, and columns are reduced to what has no index."""
    apart = problem.columns % widest_vectors(problem, True) != 0 and problem.ldx == problem.columns
    return problem.axis is Axis.FIRST and apart and not problem.op.indexed


def _folded_violations(problem: ReduceProblem, schedule: ReduceSchedule) -> Iterator[str]:
    """What makes a schedule illegal that takes several rows as one."""
    if not can_fold(problem) or schedule.fold(problem) == 1:
        yield "folded: expected columns, without indices, of rows without gaps that begin between vectors"
    if schedule.splits == 1:
        yield "folded: expected splits of 2 or more, not 1"


def _staged_violations(problem: ReduceProblem, schedule: ReduceSchedule) -> Iterator[str]:
    """What makes a schedule illegal that copies segments to shared memory."""
    vector_bytes = schedule.vector_width * problem.dtype.bytes
    if not problem.in_segments or problem.op.arrays > 1:
        yield "staged: expected segments of one array"
    if schedule.splits > 1:
        yield f"staged: expected splits 1, not {schedule.splits}"
    if vector_bytes < LEAST_COPY:
        yield f"staged: vectors of {vector_bytes} bytes, cp.async copies {LEAST_COPY} or more"


def space(problem: ReduceProblem, spec: DeviceSpec) -> Space[ReduceSchedule]:
    """Threads of a row and splits are drawn and lowered to what there is, so that most draws are legal."""
    folds = can_fold(problem)
    widths = tuple(width for width in _VECTOR_WIDTHS if width <= widest_vectors(problem, folds))
    split_counts = split_values(problem, spec)
    staged = (False, True) if problem.in_segments and problem.op.arrays == 1 else (False,)
    parameters = (
        *field_parameters(
            ReduceSchedule, vector_width=widths, staged=staged, folded=(False, True) if folds else (False,)
        ),
        Parameter("splits", split_counts),
        *(Parameter("threads_per_row", values) for axis, values in _THREADS_PER_ROW.items() if axis is problem.axis),
    )

    def build(draw: Draw) -> ReduceSchedule:
        fields = {name: value for name, value in draw.items() if name in field_specs(ReduceSchedule)}
        drawn = ReduceSchedule.from_dict(fields)
        drawn = replace(drawn, folded=drawn.folded and drawn.fold(problem) > 1)
        if not drawn.folded:
            drawn = replace(drawn, vector_width=min(drawn.vector_width, problem.vector_width("x")))
        schedule = fitted(problem, drawn, split_counts)
        if schedule.folded and schedule.splits == 1:
            narrow = replace(schedule, folded=False, vector_width=problem.vector_width("x"))
            schedule = fitted(problem, narrow, split_counts)
        return replace(schedule, staged=schedule.staged and _can_stage(problem, schedule, spec))

    return Space(parameters, build)


def _can_stage(problem: ReduceProblem, schedule: ReduceSchedule, spec: DeviceSpec) -> bool:
    staged = replace(schedule, staged=True)
    fits = staged.footprint(problem).shared_bytes <= spec.shared_per_block
    return fits and not any(_staged_violations(problem, staged))


def split_values(problem: ReduceProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Splits by powers of two, and by blocks for each SM, until all reductions together have enough blocks."""
    parallel = ceil_div(problem.columns, _STRIP) if problem.axis is Axis.FIRST else problem.results
    most = _BLOCKS_PER_SM * spec.sm_count // max(1, parallel)
    values = {1, 2, 4, 8, 16, 32, 64, *(spec.sm_count * blocks for blocks in (1, 2, 4, 8, 16))}
    return tuple(sorted(value for value in values if value <= max(1, most)))


def fitted(problem: ReduceProblem, schedule: ReduceSchedule, split_counts: tuple[int, ...]) -> ReduceSchedule:
    """The schedule with as many threads on a row as it has, and with as many splits as there are tiles for."""
    if problem.axis is Axis.ALL or (problem.axis is not Axis.FIRST and schedule.splits > 1):
        schedule = replace(schedule, threads_per_row=schedule.threads)
    schedule = replace(schedule, threads_per_row=min(schedule.threads_per_row, schedule.threads))
    most = min(schedule.splits, schedule.tiles(problem))
    return replace(schedule, splits=max(value for value in split_counts if value <= most))
