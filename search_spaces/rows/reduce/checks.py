"""reduce: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule

_SPLITS = 3  # splits of a check, at most


def checks(problem: ReduceProblem, schedule: ReduceSchedule) -> list[tuple[ReduceProblem, ReduceSchedule]]:
    """Whole tiles, aligned as the problem's; and edges on both sides, just aligned enough, skewed as the problem's."""
    like = replace(schedule, splits=min(_SPLITS, schedule.splits))
    tile, size = like.tile(problem), problem.dtype.bytes
    along = tile * like.splits  # elements of a result
    across = like.strip if problem.axis is Axis.FIRST else like.rows_per_block  # results of a block
    if like.folded:
        return _of_folded_rows(problem, like, along)
    if problem.axis is Axis.FIRST:
        whole, ragged = (along, across), (along + tile // 2 + 1, across + across // 2 + 1)
    elif problem.axis is Axis.LAST:
        whole, ragged = (across, along), (across + across // 2 + 1, along + tile // 2 + 1)
    elif problem.axis is Axis.SEGMENTS:
        return _of_segments(problem, like, across, along)
    else:
        whole, ragged = (1, along), (1, along + tile // 2 + 1)
    aligned = replace(problem, rows=whole[0], columns=whole[1], ldx=0)
    rows, columns = ragged
    skew = problem.ldx % like.vector_width if problem.axis is Axis.LAST and problem.rows > 1 else 0
    ldx = 0 if problem.axis is Axis.ALL else round_up(columns, like.vector_width) + skew
    edges = replace(problem, rows=rows, columns=columns, ldx=ldx, align_x=like.vector_width * size)
    return [(aligned, like), (edges, like)]


def _of_folded_rows(
    problem: ReduceProblem, schedule: ReduceSchedule, along: int
) -> list[tuple[ReduceProblem, ReduceSchedule]]:
    """As many rows as one as in the problem, a vector more than a strip; and the part of a row behind half a tile."""
    fold = schedule.fold(problem)
    apart, vectors, tile = schedule.vector_width // fold, schedule.threads_per_row, schedule.tile(problem)
    whole = replace(problem, rows=fold * along, columns=apart * (vectors | 1), ldx=0)
    rows, columns = fold * (along + tile // 2 + 1) - 1, apart * (vectors // 2 | 1)
    edges = replace(problem, rows=rows, columns=columns, ldx=0, align_x=schedule.vector_width * problem.dtype.bytes)
    return [(whole, schedule), (edges, schedule)]


def _of_segments(
    problem: ReduceProblem, schedule: ReduceSchedule, across: int, along: int
) -> list[tuple[ReduceProblem, ReduceSchedule]]:
    """Segments are of all lengths anyway; those of the second problem begin in an array that is just aligned enough."""
    some = replace(problem, columns=across * along, segments=across, ldx=0)
    more = replace(problem, columns=2 * across * along + 1, segments=across + across // 2 + 1, ldx=0)
    return [(some, schedule), (replace(more, align_x=schedule.vector_width * problem.dtype.bytes), schedule)]
